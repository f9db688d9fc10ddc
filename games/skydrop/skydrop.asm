; SKY DROP - a shooter for the Galaxian board (one Z80).
;
; The machine as this program sees it:
;   0000-27ff  program                  6000 r  0 coin, 2 left, 3 right, 4 fire (active high)
;   4000-43ff  RAM                      6800 r  0 start
;   5000-53ff  tiles                    7001 w  NMI on; the handler must set it again
;   5800-583f  scroll, colour of a row  7004 w  stars
;   5840-585f  8 sprites                7800    read: watchdog, write: pitch (ff = silent)
;   5860-587f  8 bullets
; Upright picture: 28 columns by 32 rows; tile (column c, row r) is 5000 + (29-c)*32 + r.
;
; Unlike Burrow this game draws a number only when it changes, as most tile machines do.

        include "config.inc"

IN0     equ 6000h
IN1     equ 6800h
VRAM    equ 5000h
OBJ     equ 5800h
BLANK   equ ' '

MODE_ATTRACT equ 1
MODE_PLAY   equ 2
MODE_OVER   equ 3

NENEMY  equ 5
ESIZE   equ 8
NSHOT   equ 2
NBOMB   equ 3
SHIPY   equ 214                 ; middle of the ship
KILLS   equ 12                  ; kills a level

; what has to be drawn again
D_SCORE equ 0
D_LIVES equ 1
D_COINS equ 2
D_LEVEL equ 3

; ---- work RAM
        org 4010h
vars:
mode:   defs 1
vbl:    defs 1
frame:  defs 2
rng:    defs 2
joy:    defs 1                  ; 2 left, 3 right, 4 fire
coinold: defs 1
startold: defs 1
credits: defs 1                 ; BCD
level:  defs 1
kills:  defs 1                  ; left on this level
dirty:  defs 1
dying:  defs 1                  ; frames left of the ship's explosion
timer:  defs 1
banner: defs 1                  ; frames left of the level's number
px:     defs 1                  ; middle of the ship, 12-212
cool:   defs 1
espeed: defs 1                  ; how often an enemy falls an extra pixel, of 256
shots:  defs NSHOT*2            ; y (0 = none), x
bombs:  defs NBOMB*2
enemies: defs NENEMY*ESIZE
vars_end:
; an enemy: state (0 away 1 flies 2 bursts), middle x, y, kind, age, timer, sideways, fraction
E_ST    equ 0
E_X     equ 1
E_Y     equ 2
E_KIND  equ 3
E_AGE   equ 4
E_TIME  equ 5
E_SIDE  equ 6
E_FRAC  equ 7

        org 0
        di
        ld sp,4400h
        xor a
        ld (7001h),a
        ld (7004h),a
        ld (7006h),a
        ld (7007h),a
        jp init

        org 38h
        ret

        org 66h
        push af
        ld a,1
        ld (vbl),a
        xor a
        ld (7001h),a
        inc a
        ld (7001h),a
        ld a,(7800h)
        pop af
        retn

init:   ld hl,4000h
        ld de,4001h
        ld bc,3c0h
        ld (hl),0
        ldir
        ld hl,OBJ
        ld b,0
in1:    ld (hl),0
        inc hl
        djnz in1
        ld hl,6800h
        ld b,8
in2:    ld (hl),0
        inc hl
        djnz in2
        ld a,0ffh
        ld (7800h),a
        ld hl,SEED
        ld (rng),hl
        call inithi
        call cls
        ld a,1
        ld (7004h),a
        ld (7001h),a
        ; the title alone for two seconds
        ld hl,t_title
        call print
        ld b,120
in3:    push bc
        call vblank
        pop bc
        djnz in3
        call newdemo

; ---------------------------------------------------------------- one turn a frame
main:   call vblank
        ld hl,(frame)
        inc hl
        ld (frame),hl
        call coin
        call startbutton
        call rand
        ld a,(mode)
        cp MODE_OVER
        jr z,over
        cp MODE_ATTRACT
        jr z,m1
        ld a,(IN0)
        and 1ch
        ld (joy),a
        jr m2
m1:     call demo
        call invite
m2:     ld hl,rng               ; what the player does is part of the luck
        ld a,(joy)
        add a,(hl)
        ld (hl),a
        call turn
        jr m3
over:   ld hl,timer
        dec (hl)
        call z,newdemo
m3:     call hud
        call objects
        jr main

vblank: xor a
        ld (vbl),a
vb1:    halt
        ld a,(vbl)
        or a
        jr z,vb1
        ret

coin:   ld a,(IN0)
        and 3
        ld b,a
        ld a,(coinold)
        cpl
        and b
        ld c,a
        ld a,b
        ld (coinold),a
        ld a,c
        or a
        ret z
        ld a,(credits)
        cp 99h
        ret z
        add a,1
        daa
co1:    ld (credits),a
        ld hl,dirty
        set D_COINS,(hl)
        ret

startbutton:
        ld a,(IN1)
        and 1
        ld b,a
        ld a,(startold)
        cpl
        and b
        ld c,a
        ld a,b
        ld (startold),a
        ld a,c
        or a
        ret z
        ld a,(mode)
        cp MODE_PLAY
        ret z
        ld a,(credits)
        or a
        ret z
        sub 1
        daa
        call co1
        ld a,MODE_PLAY
        jr newgame

newdemo:
        ld a,MODE_ATTRACT
newgame:
        ld (mode),a
        call cls
        call city
        call zeroscore
        ld a,LIVES_START+LIVES_BASE
        ld (LIVES_AT),a
        ld a,1
        ld (level),a
        ld a,0fh
        ld (dirty),a
        ld a,60
        ld (banner),a
        call setspeed

; ---- a fresh ship under an empty sky
newlife:
        ld a,112
        ld (px),a
        xor a
        ld (dying),a
        ld (cool),a
        ld hl,shots
        ld b,NSHOT*2+NBOMB*2
nl1:    ld (hl),a
        inc hl
        djnz nl1
        ld ix,enemies
        ld b,NENEMY
        ld c,20
nl2:    ld (ix+E_ST),0
        ld (ix+E_TIME),c
        ld a,c
        add a,35
        ld c,a
        ld de,ESIZE
        add ix,de
        djnz nl2
        ret

; speed from the level; the kills it takes
setspeed:
        ld a,KILLS
        ld (kills),a
        ld a,(level)
        dec a
        cp 12
        jr c,ss1
        ld a,12
ss1:    ld b,a
        add a,a
        add a,a
        add a,a
        add a,a
        ld (espeed),a
        ret

; ---- the player of the demo: under the lowest enemy, firing; now and then it dozes
demo:   ld c,10h
        ld a,(frame+1)
        and 3
        cp 2
        jr nz,dm0
        ld c,0
        jr dm9
dm0:    ld ix,enemies
        ld b,NENEMY
        ld d,0                  ; lowest so far
        ld e,112
dm1:    ld a,(ix+E_ST)
        dec a
        jr nz,dm2
        ld a,(ix+E_Y)
        cp 180
        jr nc,dm2
        cp d
        jr c,dm2
        ld d,a
        ld e,(ix+E_X)
dm2:    push de
        ld de,ESIZE
        add ix,de
        pop de
        djnz dm1
        ld a,(px)
        sub e
        jr z,dm9
        jr c,dm3
        cp 3
        jr c,dm9
        set 2,c
        jr dm9
dm3:    cp 0feh
        jr nc,dm9
        set 3,c
dm9:    ld a,c
        ld (joy),a
        ret

; ---------------------------------------------------------------- a frame of the game
turn:   ld a,(banner)
        or a
        jr z,tu1
        dec a
        ld (banner),a
        call z,nobanner
tu1:    ld a,(dying)
        or a
        jr nz,tu_dying
        call ship
        call moveshots
        call movebombs
        jp moveenemies

tu_dying:
        dec a
        ld (dying),a
        jr z,tu2
        call moveshots
        jp movebombs
tu2:    ld hl,dirty
        set D_LIVES,(hl)
        ld hl,LIVES_AT
        dec (hl)
        ld a,(hl)
        cp LIVES_BASE
        jp nz,newlife
        ld a,(mode)
        cp MODE_ATTRACT
        jp z,newdemo
        ld a,MODE_OVER
        ld (mode),a
        ld a,130
        ld (timer),a
        call takehi
        call newlife            ; an empty sky behind the words
        ld hl,dirty
        set D_SCORE,(hl)
        ld hl,t_over
        jp print

ship:   ld a,(joy)
        ld c,a
        ld a,(px)
        bit 2,c
        jr z,sh1
        cp 14
        jr c,sh1
        sub 2
sh1:    bit 3,c
        jr z,sh2
        cp 211
        jr nc,sh2
        add a,2
sh2:    ld (px),a
        ld hl,cool
        ld a,(hl)
        or a
        jr z,sh3
        dec (hl)
        ret
sh3:    bit 4,c
        ret z
        ld hl,shots
        ld b,NSHOT
sh4:    ld a,(hl)
        or a
        jr z,sh5
        inc hl
        inc hl
        djnz sh4
        ret
sh5:    ld (hl),SHIPY-10
        inc hl
        ld a,(px)
        ld (hl),a
        ld a,14
        ld (cool),a
        ret

moveshots:
        ld iy,shots
        ld b,NSHOT
ms1:    ld a,(iy+0)
        or a
        jr z,ms3
        sub 5
        cp 20
        jr nc,ms2
        xor a
ms2:    ld (iy+0),a
        call nz,shothits
ms3:    inc iy
        inc iy
        djnz ms1
        ret

; the shot IY against every enemy
shothits:
        push bc
        ld ix,enemies
        ld b,NENEMY
hi1:    ld a,(ix+E_ST)
        dec a
        jr nz,hi4
        ld a,(iy+1)
        sub (ix+E_X)
        jr nc,hi2
        neg
hi2:    cp 10
        jr nc,hi4
        ld a,(iy+0)
        sub (ix+E_Y)
        jr nc,hi3
        neg
hi3:    cp 9
        jr nc,hi4
        ld (iy+0),0
        ld (ix+E_ST),2
        ld (ix+E_TIME),24
        ld a,(ix+E_KIND)
        ld hl,tens
        call index
        call addtens
        ld hl,dirty
        set D_SCORE,(hl)
        ld hl,kills
        dec (hl)
        call z,nextlevel
        pop bc
        ret
hi4:    ld de,ESIZE
        add ix,de
        djnz hi1
        pop bc
        ret
tens:   db 3,5,10               ; 30, 50 and 100 points

nextlevel:
        ld hl,level
        ld a,(hl)
        cp 99
        jr z,nx1
        inc (hl)
nx1:    ld hl,dirty
        set D_LEVEL,(hl)
        ld a,90
        ld (banner),a
        jp setspeed

movebombs:
        ld iy,bombs
        ld b,NBOMB
mb1:    ld a,(iy+0)
        or a
        jr z,mb5
        inc a
        inc a
        ld c,a
        ld a,(level)
        cp 4
        jr c,mb2
        inc c
mb2:    ld a,c
        cp 236
        jr c,mb3
        xor a
mb3:    ld (iy+0),a
        sub SHIPY-8
        cp 15
        jr nc,mb5
        ld a,(px)
        sub (iy+1)
        jr nc,mb4
        neg
mb4:    cp 7
        call c,killed
mb5:    inc iy
        inc iy
        djnz mb1
        ret

killed: ld a,(dying)
        or a
        ret nz
        ld a,70
        ld (dying),a
        ret

moveenemies:
        ld ix,enemies
        ld b,NENEMY
me1:    push bc
        call enemy
        pop bc
        ld de,ESIZE
        add ix,de
        djnz me1
        ret

enemy:  ld a,(ix+E_ST)
        or a
        jr z,e_away
        dec a
        jr z,e_fly
        dec (ix+E_TIME)
        ret nz
e_leave:
        ld (ix+E_ST),0
        call rand
        and 31
        add a,10
        ld (ix+E_TIME),a
        ret
e_away: dec (ix+E_TIME)
        ret nz
        ; a new one: which kinds there are depends on the level
        call rand
        and 127
        add a,48
        ld (ix+E_X),a
        ld (ix+E_Y),18
        ld (ix+E_AGE),0
        ld (ix+E_ST),1
        call rand
        and 7
        ld hl,kinds
        call index
        ld (ix+E_KIND),a
        call rand
        and 4
        sub 2
        ld (ix+E_SIDE),a        ; +2 or -2
        ret
kinds:  db 0,0,0,0,1,1,1,2

e_fly:  inc (ix+E_AGE)
        ld a,(ix+E_FRAC)
        ld hl,espeed
        add a,(hl)
        ld (ix+E_FRAC),a
        ld a,1
        adc a,0
        add a,(ix+E_Y)
        ld (ix+E_Y),a
        cp 238
        jr nc,e_leave
        ld a,(ix+E_KIND)
        or a
        jr z,e_sway
        dec a
        jr z,e_dive
        ; the dasher goes from wall to wall, and no lower than it must
        ld a,(ix+E_AGE)
        and 1
        jr z,ef1
        dec (ix+E_Y)
ef1:    ld a,(ix+E_X)
        add a,(ix+E_SIDE)
        cp 212
        jr nc,ef2
        cp 12
        jr nc,ef3
ef2:    ld a,(ix+E_SIDE)
        neg
        ld (ix+E_SIDE),a
        add a,(ix+E_X)
ef3:    ld (ix+E_X),a
        jr e_drop
e_sway: ld a,(ix+E_AGE)
        and 32
        jr z,ey1
        inc (ix+E_X)
        jr e_drop
ey1:    dec (ix+E_X)
        jr e_drop
e_dive: ld a,(ix+E_AGE)
        and 1
        jr z,e_drop
        ld a,(px)
        cp (ix+E_X)
        jr z,e_drop
        jr c,ed1
        inc (ix+E_X)
        jr e_drop
ed1:    dec (ix+E_X)
        ; a bomb now and then, while there is room to dodge it
e_drop: ld a,(ix+E_Y)
        cp 130
        jr nc,e_crash
        call rand
        cp 3
        jr nc,e_crash
        ld hl,bombs
        ld b,NBOMB
ep1:    ld a,(hl)
        or a
        jr z,ep2
        inc hl
        inc hl
        djnz ep1
        jr e_crash
ep2:    ld a,(ix+E_Y)
        add a,8
        ld (hl),a
        inc hl
        ld a,(ix+E_X)
        ld (hl),a
e_crash:
        ld a,(ix+E_Y)
        sub SHIPY-11
        cp 23
        ret nc
        ld a,(px)
        sub (ix+E_X)
        jr nc,ec1
        neg
ec1:    cp 12
        ret nc
        ld (ix+E_ST),2
        ld (ix+E_TIME),24
        jp killed

        include "draw.inc"
        include "common.inc"
        include "score.inc"
        include "hiscore.inc"
code_end:
        end
