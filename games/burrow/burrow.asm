; BURROW - a digging game for the Dig Dug board (three Z80s; this runs on the main one alone).
;
; The machine as this program sees it:
;   0000-3fff  program, four ROMs        8000-83ff  text tiles (1 bit, over the playfield)
;   6820       interrupt on and off      8400-87ff  free RAM
;   6823       the other CPUs' reset     8800-8b7f  RAM, 8b80-8bff sprite code, colour
;   6830       watchdog                  9000-937f  RAM, 9380-93ff sprite place
;   7000,7100  input chip                9800-9b7f  RAM, 9b80-9bff sprite flip
;   a000-a007  latch: playfield map 0-1, text colour mode 2, playfield off 3, its colours 4-5
; Upright picture: 28 columns by 36 rows of 8x8 tiles. Rows 2-33, the play area:
; tile (column c, row r) is 8000 + (29-c)*32 + r-2. Rows 0, 1: 83dd-c, 83fd-c. 34, 35: 801d-c, 803d-c.
;
; The tunnels *are* text tiles: codes 0-15 paint black over the dirt, each bit one open
; neighbour (1 up, 2 right, 4 down, 8 left), so the text RAM is also the map of the level.

        include "config.inc"

VRAM    equ 8000h
BLANK   equ 2ah                 ; letters lie at 10h-29h, so that all text shares colour 2
YELLOW  equ 80h                 ; bit 7 of a tile: its second colour
SPRITES equ 8b80h
NENEMY  equ 8
ESIZE   equ 16
NROCK   equ 3
RSIZE   equ 4

MODE_TEST   equ 0
MODE_ATTRACT equ 1
MODE_PLAY   equ 2
MODE_OVER   equ 3

; ---- work RAM
        org 8840h
vars:
mode:   defs 1
vbl:    defs 1
frame:  defs 2
rng:    defs 2
joy:    defs 1                  ; bits 0-3 up right down left, 5 fire
coins:  defs 1                  ; coin and start as last seen
credits: defs 1                 ; BCD
level:  defs 1
phase:  defs 1                  ; 0 ready, 1 run, 2 dying, 3 level cleared
timer:  defs 1
dx:     defs 1                  ; the digger: left edge, 0-208
dy:     defs 1                  ; top edge from row 2, 16-240
ddir:   defs 1                  ; 0 up 1 right 2 down 3 left
danim:  defs 1
dslow:  defs 1
hlen:   defs 1                  ; pump: reach in pixels, 0 = put away
hcool:  defs 1
hlinger: defs 1
espeed: defs 1
epatience: defs 1
tough:  defs 1                  ; pumps that burst an enemy
demodir: defs 1
sprptr: defs 2
enemies: defs NENEMY*ESIZE
rocks:  defs NROCK*RSIZE
vars_end:
; an enemy: state (0 gone 1 walks 2 ghost 3 swollen 4 burst), x, y, direction, kind, patience,
; swelling, its timer, target x, y, home x, y, speed fraction, what the burst shows
E_ST    equ 0
E_X     equ 1
E_Y     equ 2
E_DIR   equ 3
E_KIND  equ 4
E_PAT   equ 5
E_SWELL equ 6
E_TIME  equ 7
E_TX    equ 8
E_TY    equ 9
E_HX    equ 10
E_HY    equ 11
E_FRAC  equ 12
E_SHOW  equ 13
; a rock: state (0 gone 1 rests 2 shakes 3 falls 4 broken), x, y, timer

STACK   equ 8b80h               ; the self-test leaves 8b00-8b7f alone

        org 0
        di
        im 1
        ld sp,STACK
        jp init

        org 38h
        push af
        ld a,1
        ld (vbl),a
        xor a
        ld (6820h),a
        inc a
        ld (6820h),a
        ld (6830h),a
        pop af
        ei
        reti

        org 66h
        retn

; ---------------------------------------------------------------- power-on and self-test
init:   ld a,10h
        ld (7100h),a
        xor a
        ld (6823h),a            ; the other two CPUs stay in reset
        ld hl,0a000h
        ld b,8
in1:    ld (hl),0
        inc hl
        djnz in1
        inc a
        ld (0a003h),a           ; playfield off: black
        call cls
        call nosprites
        ld hl,t_test
        call print
        ; each RAM page takes four patterns, shown as it passes
        ld hl,t_ram
        call print
        ld c,0
in2:    ld a,c
        ld hl,patterns
        call index
        ld b,a
        push bc
        ld hl,8400h
        ld de,700h
        call fill
        ld hl,9000h
        ld de,380h
        call fill
        ld hl,9800h
        ld de,380h
        call fill
        pop bc
        push bc
        ld a,c
        add a,'1'
        ld (VRAM+(29-19)*32+12-2),a
        ld b,30
        call delay
        pop bc
        inc c
        ld a,c
        cp 5
        jr nz,in2
        ld hl,t_ramok
        call print
        ; the glyphs, for the eye
        ld hl,VRAM+(29-4)*32+20-2
        ld a,10h
in3:    ld (hl),a
        inc a
        cp 24h
        jr z,in4
        ld de,-32
        add hl,de
        jr in3
in4:    ld hl,VRAM+(29-4)*32+22-2
in5:    ld (hl),a
        inc a
        cp 3ah
        jr z,in6
        ld de,-32
        add hl,de
        jr in5
in6:    ld b,60
        call delay
        call inithi
        ld hl,SEED
        ld (rng),hl
        call cls
        call newdemo
        ld a,1
        ld (6820h),a
        ei

; ---------------------------------------------------------------- one turn a frame
main:   call vblank
        ld hl,(frame)
        inc hl
        ld (frame),hl
        call inputs
        call rand
        ld hl,rng               ; what the player does is part of the luck
        ld a,(joy)
        add a,(hl)
        ld (hl),a
        ld a,(mode)
        cp MODE_OVER
        jr z,over
        cp MODE_ATTRACT
        jr nz,m1
        call demo
        call invite
m1:     call turn
        jr m2
over:   ld hl,timer
        dec (hl)
        call z,newdemo
m2:     call hud
        call sprites
        jr main

vblank: xor a
        ld (vbl),a
vb1:    halt
        ld a,(vbl)
        or a
        jr z,vb1
        ret

; B frames with the interrupt on, nothing else
delay:  ei
        ld a,1
        ld (6820h),a
de1:    push bc
        call vblank
        pop bc
        djnz de1
        di                      ; the fills overwrite vbl
        ret

; DE bytes of B at HL
fill:   ld (hl),b
        inc hl
        dec de
        ld a,d
        or e
        jr nz,fill
        ret

patterns: db 0ffh,0aah,55h,0fh,0

; ---------------------------------------------------------------- input, coins, luck
inputs: ld a,71h
        ld (7100h),a
        ld a,(7000h)
        cpl
        ld b,a
        ld a,(7001h)
        cpl
        and 2fh
        ld (joy),a
        ld a,10h
        ld (7100h),a
        ld a,(coins)
        cpl
        and b                   ; what went down since the last frame
        ld c,a
        ld a,b
        ld (coins),a
        bit 4,c
        jr z,ip1
        ld a,(credits)
        cp 99h
        jr z,ip1
        add a,1
        daa
        ld (credits),a
ip1:    bit 2,c
        ret z
        ld a,(mode)
        cp MODE_PLAY
        ret z
        ld a,(credits)
        or a
        ret z
        sub 1
        daa
        ld (credits),a
        ld a,MODE_PLAY
        jr newgame

newdemo:
        ld a,MODE_ATTRACT
newgame:
        ld (mode),a
        call zeroscore
        ld a,LIVES_START+LIVES_BASE
        ld (LIVES_AT),a
        ld a,1
        ld (level),a
        jp newlevel

; the player of the demo: towards the first enemy alive, pumping when one is near
demo:   ld a,(frame)
        and 15
        jr nz,dm5
        call rand
        cp 48
        jr nc,dm1
        and 3                   ; a whim, so that it does not run in circles
        jr dm4
dm1:    ld ix,enemies
        ld b,NENEMY
dm2:    ld a,(ix+E_ST)
        dec a
        cp 3
        jr c,dm3
        ld de,ESIZE
        add ix,de
        djnz dm2
        jr dm5
dm3:    ld a,(dx)
        ld d,a
        ld a,(dy)
        ld e,a
        call towards
dm4:    ld (demodir),a
dm5:    ld a,(demodir)
        ld c,1
        inc a
        ld b,a
        jr dm7
dm6:    sla c
dm7:    djnz dm6
        ld a,(frame+1)          ; it dozes off a quarter of the time
        and 3
        cp 3
        jr z,dm9
        ld ix,enemies
        ld b,NENEMY
dm8:    ld a,(ix+E_ST)
        or a
        jr z,dm85
        ld a,50
        call near
        jr nc,dm85
        set 5,c
dm85:   ld de,ESIZE
        add ix,de
        djnz dm8
dm9:    ld a,c
        ld (joy),a
        ret

; carry when enemy IX is less than A pixels from the digger on both axes; keeps BC
near:   push bc
        ld b,a
        ld a,(dx)
        sub (ix+E_X)
        jr nc,ne1
        neg
ne1:    cp b
        jr nc,ne3
        ld a,(dy)
        sub (ix+E_Y)
        jr nc,ne2
        neg
ne2:    cp b
ne3:    pop bc
        ret

; A = direction from point D,E to enemy IX along the longer way; keeps BC
towards:
        push bc
        ld c,3
        ld a,(ix+E_X)
        sub d
        jr c,tw1
        ld c,1
        jr tw2
tw1:    neg
tw2:    ld b,a                  ; horizontal distance, c its direction
        ld a,(ix+E_Y)
        sub e
        jr c,tw3
        cp b
        ld a,2
        jr nc,tw4
        ld a,c
        jr tw4
tw3:    neg
        cp b
        ld a,0
        jr nc,tw4
        ld a,c
tw4:    pop bc
        ret

; ---------------------------------------------------------------- a frame of the game
turn:   ld a,(phase)
        or a
        jr z,t_ready
        dec a
        jr z,t_run
        dec a
        jr z,t_die
        ld hl,timer             ; level cleared
        dec (hl)
        ret nz
        ld hl,level
        ld a,(hl)
        cp 99
        jr z,tn1
        inc (hl)
tn1:    jp newlevel

t_ready:
        ld hl,timer
        dec (hl)
        ret nz
        call skyline
        ld a,1
        ld (phase),a
        ret

t_die:  call moverocks
        ld hl,timer
        dec (hl)
        ret nz
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
        ld a,120
        ld (timer),a
        call takehi
        call skyline
        ld hl,t_over
        jp print

t_run:  call digger
        call pump
        call moverocks
        ld a,(phase)
        cp 1
        ret nz
        ; every enemy, and whether any is left
        ld ix,enemies
        ld b,NENEMY
        ld c,0
tr1:    push bc
        call enemy
        pop bc
        ld a,(ix+E_ST)
        or a
        jr z,tr2
        inc c
tr2:    ld de,ESIZE
        add ix,de
        djnz tr1
        ld a,(phase)
        cp 1
        ret nz
        ld a,c
        or a
        ret nz
        ld a,3
        ld (phase),a
        ld a,75
        ld (timer),a
        ld hl,t_clear
        jp print

killed: ld a,(phase)
        cp 1
        ret nz
        ld a,2
        ld (phase),a
        ld a,64
        ld (timer),a
        xor a
        ld (hlen),a
        ret

        include "dig.inc"
        include "foes.inc"
        include "draw.inc"
        include "common.inc"
        include "score.inc"
        include "hiscore.inc"
        include "levels.inc"
code_end:
        end
