/* A core's private image: globals of its own, the code and constants of the file in common. */
#define _GNU_SOURCE
#include "internal.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cores keep their state in globals, so every instance gets an image of its own: a copy under a
 * name never used before (the loader compares device and inode). */
static int copy_image(int in, const char *so, const char *temp_dir, char *path) {
    snprintf(path, PATH_BYTES, "%s/retrokit-core-XXXXXX", temp_dir);
    int out = mkostemp(path, O_CLOEXEC);
    if (out < 0) return rk_fail("cannot write in %s: %s", temp_dir, strerror(errno));
    struct stat st;
    off_t left = fstat(in, &st) ? -1 : st.st_size;
    while (left > 0) {
        ssize_t n = copy_file_range(in, NULL, out, NULL, (size_t)left, 0);
        if (n <= 0) {
            char block[1 << 15];
            n = read(in, block, sizeof block);
            if (n > 0 && write(out, block, (size_t)n) != n) n = -1;
        }
        if (n <= 0) break;
        left -= n;
    }
    int failed = errno;
    close(out);
    if (!left) return 1;
    unlink(path);
    return rk_fail("cannot copy %s to %s: %s", so, temp_dir, strerror(failed));
}

struct shared { const char *path; int file; };

/* Whether the loader wrote into code: then no two copies are alike. */
static bool relocated_code(const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL))
                return true;
    }
    return false;
}

/* Map what nobody writes to from the core's own file, over the copy: so it lies in memory, and in
 * the caches, once for all instances. Where that fails, the copy's remains. */
static int share(struct dl_phdr_info *info, size_t size, void *of) {
    const struct shared *shared = of;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    (void)size;
    if (strcmp(info->dlpi_name, shared->path)) return 0;
    for (int i = 0; i < info->dlpi_phnum && !relocated_code(info); i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W || part->p_filesz != part->p_memsz) continue;
        uintptr_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_filesz;
        int allowed = (part->p_flags & PF_R ? PROT_READ : 0) | (part->p_flags & PF_X ? PROT_EXEC : 0);
        mmap((void *)(start & ~page), end - (start & ~page), allowed, MAP_PRIVATE | MAP_FIXED,
             shared->file, (off_t)(part->p_offset & ~page));
    }
    return 1;
}

/* Load a core as nobody else has it: dlclose() ends it. NULL with a reason in rk_error(). */
void *rk_private_image(const char *so, const char *temp_dir) {
    char path[PATH_BYTES];
    int file = open(so, O_RDONLY | O_CLOEXEC);
    if (file < 0) return rk_fail("cannot read %s: %s", so, strerror(errno)), NULL;
    void *image = NULL;
    if (copy_image(file, so, temp_dir, path)) {
        image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (image) dl_iterate_phdr(share, &(struct shared){path, file});
        else rk_fail("%s", dlerror());
        unlink(path);
    }
    close(file);
    return image;
}
