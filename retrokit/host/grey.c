/* Grey pictures on processors with wide vectors: what rgb_of and the luma in video.c say, to the bit. */
#include "internal.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))

/* Luma of eight pixels: pairs of blue and red, and of green and anything, 16 bits each. Green's weight is
 * halved, since a factor is signed. */
AVX2 INLINE __m256i luma(__m256i blue_red, __m256i green) {
    __m256i two = _mm256_madd_epi16(blue_red, _mm256_set1_epi32(19595 << 16 | 7471));
    __m256i one = _mm256_madd_epi16(green, _mm256_set1_epi32(38470 / 2));
    two = _mm256_add_epi32(two, _mm256_slli_epi32(one, 1));
    return _mm256_srli_epi32(_mm256_add_epi32(two, _mm256_set1_epi32(32768)), 16);
}

AVX2 INLINE __m256i luma_of_8888(const uint8_t *in) {
    __m256i v = _mm256_loadu_si256((const void *)in);
    return luma(_mm256_and_si256(v, _mm256_set1_epi16(255)), _mm256_srli_epi16(v, 8));
}

/* Of sixteen pixels, as 16 bits each. */
AVX2 INLINE __m256i luma_of_565(const uint8_t *in) {
    const __m256i v = _mm256_loadu_si256((const void *)in), none = _mm256_setzero_si256();
#define BITS(shifted, mask) _mm256_and_si256(shifted, _mm256_set1_epi16(mask))
    __m256i r = _mm256_or_si256(BITS(_mm256_srli_epi16(v, 8), 0xf8), _mm256_srli_epi16(v, 13));
    __m256i g = _mm256_or_si256(BITS(_mm256_srli_epi16(v, 3), 0xfc), BITS(_mm256_srli_epi16(v, 9), 3));
    __m256i b = _mm256_or_si256(BITS(_mm256_slli_epi16(v, 3), 0xf8), BITS(_mm256_srli_epi16(v, 2), 7));
    return _mm256_packus_epi32(luma(_mm256_unpacklo_epi16(b, r), _mm256_unpacklo_epi16(g, none)),
                               luma(_mm256_unpackhi_epi16(b, r), _mm256_unpackhi_epi16(g, none)));
}

/* Convert pixels in a row, 32 at a time, where the processor can; returns how many. */
AVX2 static size_t convert(const uint8_t *in, int format, size_t n, uint8_t *out) {
    size_t i = 0;
    if (format == FORMAT_XRGB8888)
        for (; i + 32 <= n; i += 32, in += 128) {
            __m256i a = _mm256_packus_epi32(luma_of_8888(in), luma_of_8888(in + 32));
            __m256i b = _mm256_packus_epi32(luma_of_8888(in + 64), luma_of_8888(in + 96));
            __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            __m256i all = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(a, b), order);
            _mm256_storeu_si256((void *)(out + i), all);
        }
    else if (format == FORMAT_RGB565)
        for (; i + 32 <= n; i += 32, in += 64) {
            __m256i all = _mm256_packus_epi16(luma_of_565(in), luma_of_565(in + 32));
            _mm256_storeu_si256((void *)(out + i), _mm256_permute4x64_epi64(all, 0xd8));
        }
    return i;
}

size_t rk_grey(const uint8_t *in, int format, size_t n, uint8_t *out) {
    return __builtin_cpu_supports("avx2") ? convert(in, format, n, out) : 0;
}
#else
size_t rk_grey(const uint8_t *in, int format, size_t n, uint8_t *out) {
    return (void)in, (void)format, (void)n, (void)out, 0;
}
#endif
