/* What memory sees of kernels: memory.py makes C of them, whose loads and stores call touch(). Runs some fifty
   workgroups of each, an invocation after the other, and counts. A line of numbers for 32 lanes and one for 64. */
#include "memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128, SECTOR = 32, SPREAD = 32, PAIRS = 8 };

/* A core: its lanes, its first cache with what that loads at once, and the invocations that it holds. */
static const struct { uint32_t lanes, cache, unit, invocations; } CORES[] = {{32, 96 << 10, 32, 1536}, {64, 32 << 10, 64, 2048}};

/* An instruction of an invocation: the turn counts how often this place of the text was passed, the order all of
   them. An epoch is the barriers before it that order the memory it goes to. */
typedef struct { uint64_t at; uint32_t site, turn, order, invocation, bytes, epoch; uint8_t space, store; } Event;

/* A word of four bytes, touched. */
typedef struct { uint64_t place; uint32_t group, epoch, invocation, store; } Word;

/* An instruction of a wave, and where the units of its loads begin. */
typedef struct { uint32_t order; size_t first, count; } Load;

typedef struct { size_t loads, count; } Wave;

typedef unsigned long long u64;

#define LIST(type, name) static type* name; static size_t name##_count, name##_room
#define ADD(name, ...) do { \
    if (name##_count == name##_room) name = realloc(name, (name##_room = name##_room * 2 + 1024) * sizeof *name); \
    name[name##_count++] = (__VA_ARGS__); } while (0)
#define ORDER(a, b) if ((a) != (b)) return (a) < (b) ? -1 : 1

LIST(Event, events);
LIST(Word, words);
LIST(uint64_t, touched);
LIST(uint64_t, kept);
LIST(uint64_t, units);
LIST(Load, loads);
LIST(Wave, waves);

static const Kernel* kernel;
static uint32_t invocation, order, turns[SITES], barriers[2], met;
static u64 outside, racing;
static char race[256];

void touch(uint32_t site, uint32_t space, uint64_t at, uint32_t bytes, int store) {
    int shared = space >= WORKGROUP;
    if (!shared && at + bytes > kernel->bytes[space]) outside++;
    ADD(events, (Event){at, site, turns[site]++, order++, invocation, bytes, barriers[shared], space, store});
}

void barrier(int storage, int shared) { met++; barriers[0] += storage; barriers[1] += shared; }

static int by_number(const void* x, const void* y) { uint64_t a = *(uint64_t*)x, b = *(uint64_t*)y; return (a > b) - (a < b); }
static int by_instruction(const void* x, const void* y) {
    const Event *a = x, *b = y;
    ORDER(a->site, b->site); ORDER(a->turn, b->turn);
    return 0;
}
static int by_order(const void* x, const void* y) {
    const Load *a = x, *b = y;
    ORDER(a->order, b->order); ORDER(a->first, b->first);
    return 0;
}
static int by_place(const void* x, const void* y) {
    const Word *a = x, *b = y;
    ORDER(a->place, b->place); ORDER(a->group, b->group); ORDER(a->epoch, b->epoch); ORDER(a->invocation, b->invocation);
    return 0;
}

static size_t distinct(uint64_t* numbers, size_t count) {
    qsort(numbers, count, sizeof *numbers, by_number);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) if (!i || numbers[i] != numbers[n - 1]) numbers[n++] = numbers[i];
    return n;
}

static uint64_t place(const Event* event) { return (uint64_t)event->space << 40 | event->at / 4; }

typedef struct { u64 lines, least_lines, sectors, least_sectors, stores, least_stores, parts; } Counts;

/* An instruction of a wave: events of one place and turn. */
static void instruction(const Event* first, size_t count, uint32_t unit, int keep, Counts* counts) {
    touched_count = 0;
    uint32_t begin = first->order;
    for (const Event* event = first; event < first + count; event++) {
        for (uint32_t k = 0; k < event->bytes; k += 4) ADD(touched, place(event) + k / 4);
        if (event->order < begin) begin = event->order;
    }
    size_t n = distinct(touched, touched_count), lines = 0, sectors = 0, in_sector = 0, first_unit = units_count;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = touched[i];
        lines += !i || word / (LINE / 4) != touched[i - 1] / (LINE / 4);
        if (!i || word / (SECTOR / 4) != touched[i - 1] / (SECTOR / 4)) {
            sectors++, in_sector = 0;
            if (first->store) ADD(kept, word / (SECTOR / 4));
            if (first->store) counts->parts++;
        }
        if (++in_sector == SECTOR / 4 && first->store) counts->parts--;
        if (keep && !first->store && (!i || word / (unit / 4) != touched[i - 1] / (unit / 4))) ADD(units, word / (unit / 4));
    }
    if (keep && !first->store) ADD(loads, (Load){begin, first_unit, units_count - first_unit});
    counts->lines += lines, counts->least_lines += (n * 4 + LINE - 1) / LINE;
    counts->sectors += sectors, counts->least_sectors += (n * 4 + SECTOR - 1) / SECTOR;
    counts->stores += first->store ? sectors : 0;
}

/* The waves of the workgroup whose events are there; those of storage only. */
static void workgroup(uint32_t lanes, uint32_t unit, int keep, Counts* counts) {
    kept_count = 0;
    for (size_t begin = 0, end; begin < events_count; begin = end) {
        uint32_t wave = events[begin].invocation / lanes;
        for (end = begin; end < events_count && events[end].invocation / lanes == wave; end++);
        size_t n = 0, from = loads_count;
        Event* own = malloc((end - begin) * sizeof *own);
        for (size_t i = begin; i < end; i++) if (events[i].space < WORKGROUP) own[n++] = events[i];
        qsort(own, n, sizeof *own, by_instruction);
        for (size_t i = 0, j; i < n; i = j) {
            for (j = i; j < n && own[j].site == own[i].site && own[j].turn == own[i].turn; j++);
            instruction(own + i, j - i, unit, keep, counts);
        }
        free(own);
        if (keep) {
            qsort(loads + from, loads_count - from, sizeof *loads, by_order);
            ADD(waves, (Wave){from, loads_count - from});
        }
    }
    counts->least_stores += distinct(kept, kept_count);
}

/* What goes past a first cache that forgets the least recently used, where waves take turns by so many loads. */
static u64 past(uint32_t room, uint32_t burst, size_t names) {
    uint32_t *next = malloc((names + 1) * sizeof *next), *before = malloc((names + 1) * sizeof *before);
    uint8_t* there = calloc(names + 1, 1);
    uint32_t head = names, held = 0;
    u64 missed = 0;
    next[head] = before[head] = head;
    size_t most = 0;
    for (size_t w = 0; w < waves_count; w++) if (waves[w].count > most) most = waves[w].count;
    for (size_t turn = 0; turn < most; turn += burst)
        for (size_t w = 0; w < waves_count; w++)
            for (size_t k = turn; k < turn + burst && k < waves[w].count; k++) {
                const Load* load = &loads[waves[w].loads + k];
                for (size_t i = load->first; i < load->first + load->count; i++) {
                    uint32_t x = units[i];
                    if (there[x]) {
                        next[before[x]] = next[x], before[next[x]] = before[x];
                    } else {
                        missed++;
                        if (held == room) {
                            uint32_t last = before[head];
                            there[last] = 0, before[head] = before[last], next[before[last]] = head;
                        } else held++;
                    }
                    there[x] = 1, next[x] = next[head], before[x] = head;
                    before[next[head]] = x, next[head] = x;
                }
            }
    free(next), free(before), free(there);
    return missed;
}

/* Numbers for the units instead of addresses: how many there are. */
static size_t named(void) {
    uint64_t* names = malloc((units_count + 1) * sizeof *names);
    memcpy(names, units, units_count * sizeof *names);
    size_t n = distinct(names, units_count);
    for (size_t i = 0; i < units_count; i++) units[i] = (uint64_t*)bsearch(&units[i], names, n, sizeof *names, by_number) - names;
    free(names);
    return n;
}

/* Two invocations at one word, of which one stores, and no barrier between. Workgroups have none between them. */
static void races(int of_storage) {
    qsort(words, words_count, sizeof *words, by_place);
    for (size_t begin = 0, end; begin < words_count; begin = end) {
        const Word *store = NULL, *other = NULL;
        for (end = begin; end < words_count && words[end].place == words[begin].place; end++) store = words[end].store ? &words[end] : store;
        for (size_t s = begin; store && !other && s < end; s++) {
            const Word* a = &words[s];
            for (size_t i = begin; a->store && !other && i < end; i++) {
                const Word* b = &words[i];
                int apart = a->group != b->group;
                if (apart ? of_storage : a->invocation != b->invocation && a->epoch == b->epoch) store = a, other = b;
            }
        }
        if (other && !racing++)
            snprintf(race, sizeof race, "%s %d, byte %llu: invocation %u of workgroup %u stores, %u of %u %s, %u barriers before", of_storage ? "binding" : "workgroup memory",
                (int)(store->place >> 40) - (of_storage ? 0 : WORKGROUP), (u64)(store->place & 0xffffffffff) * 4, store->invocation, store->group, other->invocation, other->group, other->store ? "stores" : "loads", store->epoch);
    }
}

static void keep_words(int of_storage, uint32_t group) {
    for (size_t i = 0; i < events_count; i++) {
        const Event* event = &events[i];
        if (of_storage ? event->space > kernel->stored : event->space < WORKGROUP) continue;
        for (uint32_t k = 0; k < event->bytes; k += 4) ADD(words, (Word){place(event) + k / 4, group, event->epoch, event->invocation, event->store});
    }
}

static void run(uint32_t group) {
    const uint32_t *groups = kernel->groups, *local = kernel->local, count = local[0] * local[1] * local[2];
    const uint32_t at[3] = {group % groups[0], group / groups[0] % groups[1], group / groups[0] / groups[1]};
    uint32_t expected = 0;
    events_count = 0;
    for (invocation = 0; invocation < count; invocation++) {
        const uint32_t within[3] = {invocation % local[0], invocation / local[0] % local[1], invocation / local[0] / local[1]};
        uint32_t id[3];
        for (int i = 0; i < 3; i++) id[i] = at[i] * local[i] + within[i];
        memset(turns, 0, sizeof turns);
        order = met = barriers[0] = barriers[1] = 0;
        kernel->run(kernel->words, id, within, at, invocation);
        if (invocation == 0) expected = met;
        if (met != expected && !racing++) snprintf(race, sizeof race, "workgroup %u: invocation 0 meets %u barriers, %u meets %u", group, expected, invocation, met);
    }
}

/* The workgroups that are run: those that a core holds, spread over the grid, and behind them neighbours, among which
   the last one. */
static size_t chosen(uint32_t* ids) {
    uint64_t total = (uint64_t)kernel->groups[0] * kernel->groups[1] * kernel->groups[2];
    size_t n = 0, spread = total < SPREAD ? total : SPREAD;
    for (size_t k = 0; k < spread; k++) ids[n++] = total * k / spread;
    for (size_t k = 0; k < PAIRS; k++) for (int next = 0; next < 2; next++) {
        uint64_t id = total * (k + 1) / PAIRS;
        id = (id >= 2 ? id - 2 : 0) + next;
        size_t i = 0;
        while (i < n && ids[i] != id) i++;
        if (i == n && id < total) ids[n++] = id;
    }
    return n;
}

static void all(void) {
    uint32_t ids[SPREAD + 2 * PAIRS], size = kernel->local[0] * kernel->local[1] * kernel->local[2];
    size_t count = chosen(ids);
    outside = racing = race[0] = 0;
    for (size_t core = 0; core < 2; core++) {
        uint32_t lanes = CORES[core].lanes, unit = CORES[core].unit;
        Counts counts = {0};
        units_count = loads_count = waves_count = words_count = 0;
        size_t resident = CORES[core].invocations / size;
        if (resident > SPREAD) resident = SPREAD;
        for (size_t i = 0; i < count; i++) {
            run(ids[i]);
            workgroup(lanes, unit, i < SPREAD && (!i || i * resident / SPREAD != (i - 1) * resident / SPREAD), &counts);
            if (core == 0) keep_words(1, ids[i]);
        }
        if (core == 0) {
            races(1);
            for (size_t i = 0; i < count; i++) {
                words_count = 0;
                run(ids[i]);
                keep_words(0, ids[i]);
                races(0);
            }
        }
        size_t names = named();
        uint32_t room = CORES[core].cache / unit;
        printf("%s\t%u\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%zu\t%llu\t%llu\t%llu\t%llu\t%llu\t%s\n", kernel->name, lanes, counts.lines,
            counts.least_lines, counts.sectors, counts.least_sectors, past(room, 1, names), past(room, 4, names), names, counts.stores, counts.least_stores,
            counts.parts, outside, racing, race);
    }
}

int main(int count, char** names) {
    for (size_t k = 0; k < kernels_count; k++)
        for (int i = 1; i < count; i++) if (!strcmp(names[i], kernels[k]->name)) {
            kernel = kernels[k];
            all();
            fflush(stdout);
        }
}
