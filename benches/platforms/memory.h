/* What kernels as C and what counts their accesses share; see memory.c. */
#include <stddef.h>
#include <stdint.h>

/* Spaces are bindings, and from here on variables of workgroup memory. SITES is how many loads and stores a text has at most. */
enum { WORKGROUP = 64, SITES = 4096 };

typedef struct {
    const char* name;
    void (*run)(const uint32_t* block, const uint32_t* id, const uint32_t* local, const uint32_t* group, uint32_t index);
    uint32_t local[3], groups[3];
    const uint32_t* words;
    /* The bytes of each binding, from 1 on, and how many of them are stored to; these come first. */
    uint64_t bytes[16];
    uint32_t stored;
} Kernel;

extern const Kernel* const kernels[];
extern const size_t kernels_count;

/* An access of a place of the text. */
void touch(uint32_t site, uint32_t space, uint64_t at, uint32_t bytes, int store);
void barrier(int storage, int shared);
