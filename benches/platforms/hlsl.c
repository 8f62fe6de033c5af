// Compiles HLSL with Microsoft's compilers, from the DLL beside this program, as wgpu's DX12 backend does:
// FXC with D3DCOMPILE_ENABLE_STRICTNESS for cs_5_1, DXC with -HV 2018 -Ges for cs_6_0.
//
// usage: hlsl.exe fxc|dxc FOLDER LIST
// LIST has a path a line. Compiled kernels go to FOLDER: FXC's as DXBC, DXC's disassembled. A line is printed
// for each: `ok` or `FAIL`, seconds of the processor, bytes and the path, with the compiler's messages below.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

// Calls a method of a COM object by its place in the table.
#define CALL(object, place, type, ...) ((type)((*(void***)(object))[place]))(object, ##__VA_ARGS__)
typedef void*(WINAPI* Pointer)(void*);
typedef SIZE_T(WINAPI* Size)(void*);
typedef ULONG(WINAPI* Release)(void*);

typedef struct {
    const void* data;
    SIZE_T size;
    UINT encoding;
} Buffer;
typedef HRESULT(WINAPI* FxcCompile)(const void*, SIZE_T, const char*, void*, void*, const char*, const char*, UINT, UINT, void**, void**);
typedef HRESULT(WINAPI* DxcCreate)(const GUID*, const GUID*, void**);
typedef HRESULT(WINAPI* DxcCompile)(void*, const Buffer*, const WCHAR**, UINT, void*, const GUID*, void**);
typedef HRESULT(WINAPI* DxcDisassemble)(void*, const Buffer*, const GUID*, void**);
typedef HRESULT(WINAPI* DxcOutput)(void*, int, const GUID*, void**, void**);
static const GUID COMPILER = {0x73e22d93, 0xe6ce, 0x47f3, {0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0}};
static const GUID COMPILER3 = {0x228b4687, 0x5a6a, 0x4730, {0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54}};
static const GUID ANSWER = {0x58346cda, 0xdde7, 0x4497, {0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59}};
static const GUID WANTED = {0x8ba5fb08, 0x5195, 0x40e2, {0xac, 0x58, 0x0d, 0x98, 0x9c, 0x3a, 0x01, 0x02}};
enum { OBJECT = 1, ERRORS = 2, DISASSEMBLY = 5 };

static FxcCompile fxc;
static void* dxc;

static void* function(const char* library, const char* name) {
    HMODULE module = LoadLibraryA(library);
    void* found = module ? (void*)GetProcAddress(module, name) : 0;
    if (!found) {
        printf("no %s in %s\n", name, library);
        exit(2);
    }
    return found;
}

// Seconds of the processor, so that other work on the machine does not count.
static double spent(void) {
    FILETIME created, ended, kernel, user;
    GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user);
    double high = (double)user.dwHighDateTime + kernel.dwHighDateTime;
    return ((double)user.dwLowDateTime + kernel.dwLowDateTime + 4294967296.0 * high) * 1e-7;
}

// A part of DXC's result, or null.
static void* part(void* result, int which) {
    void* blob = 0;
    if (result) CALL(result, 7, DxcOutput, which, &WANTED, &blob, 0);
    return blob;
}

int main(int count, char** arguments) {
    if (count != 4) return 2;
    BOOL is_fxc = !strcmp(arguments[1], "fxc");
    if (is_fxc)
        fxc = (FxcCompile)function("d3dcompiler_47.dll", "D3DCompile");
    else if (((DxcCreate)function("dxcompiler.dll", "DxcCreateInstance"))(&COMPILER, &COMPILER3, &dxc) < 0)
        return 2;
    FILE* list = fopen(arguments[3], "r");
    if (!list) return 2;
    char path[1024], to[2048];
    while (fgets(path, sizeof path, list)) {
        path[strcspn(path, "\r\n")] = 0;
        FILE* in = fopen(path, "rb");
        if (!in) return 2;
        fseek(in, 0, SEEK_END);
        long size = ftell(in);
        rewind(in);
        char* text = malloc(size);
        size = fread(text, 1, size, in);
        fclose(in);

        void *result = 0, *code = 0, *errors = 0;
        double begin = spent();
        if (is_fxc) {
            fxc(text, size, "zerostride", 0, 0, "main", "cs_5_1", 1 << 11, 0, &code, &errors);
        } else {
            const WCHAR* flags[] = {L"zerostride", L"-E", L"main", L"-T", L"cs_6_0", L"-HV", L"2018", L"-Ges"};
            Buffer source = {text, size, CP_UTF8};
            CALL(dxc, 3, DxcCompile, &source, flags, 8, 0, &ANSWER, &result);
            code = part(result, OBJECT);
            errors = part(result, ERRORS);
        }
        double seconds = spent() - begin;
        SIZE_T bytes = code ? CALL(code, 4, Size) : 0;
        printf("%s %.3f %lu %s\n", bytes ? "ok" : "FAIL", seconds, (unsigned long)bytes, path);
        if (errors && CALL(errors, 4, Size) > 0)
            for (char* line = strtok(CALL(errors, 3, Pointer), "\r\n"); line; line = strtok(0, "\r\n")) printf("\t%s\n", line);

        void *listing = 0, *written = code;
        if (bytes && !is_fxc) {
            Buffer object = {CALL(code, 3, Pointer), bytes, 0};
            CALL(dxc, 4, DxcDisassemble, &object, &ANSWER, &listing);
            written = part(listing, DISASSEMBLY);
        }
        if (bytes && written) {
            const char* name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
            snprintf(to, sizeof to, "%s/%.*s.%s", arguments[2], (int)strlen(name) - 5, name, is_fxc ? "dxbc" : "ll");
            FILE* out = fopen(to, "wb");
            if (!out) return 2;
            fwrite(CALL(written, 3, Pointer), 1, CALL(written, 4, Size) - (is_fxc ? 0 : 1), out);
            fclose(out);
        }
        if (written && written != code) CALL(written, 2, Release);
        void* all[] = {listing, code, errors, result};
        for (int i = 0; i < 4; i++)
            if (all[i]) CALL(all[i], 2, Release);
        free(text);
        fflush(stdout);
    }
    return 0;
}
