"""DXC's disassembled output as C: see spirv.py. Floats are multiplied and added as DXC says. The flags of the C compiler
decide what `fast` marks allow, as a driver would."""
import re
import struct

from ctext import TYPES

KINDS = {"float": "f32", "i32": "u32", "i64": "u64", "i1": "bool"}
UNARY = {6: "fabsf", 9: "is_inf", 8: "is_nan", 12: "cosf", 13: "sinf", 14: "tanf", 20: "tanhf", 21: "exp2f", 22: "fractionf", 23: "log2f", 24: "sqrtf",
         26: "rintf", 27: "floorf", 28: "ceilf", 29: "truncf", 30: "reversed", 31: "__builtin_popcount", 32: "low_bit", 33: "high_from_top"}  # fmt: skip
BINARY = {35: "fmaxf", 36: "fminf", 37: "imax", 38: "imin", 39: "umax", 40: "umin"}
ARITHMETIC = dict(zip("add sub mul and or xor udiv urem fadd fsub fmul fdiv".split(), "+ - * & | ^ / % + - * /".split()))
ORDERS = dict(eq="==", ne="!=", gt=">", ge=">=", lt="<", le="<=")
OPPOSITE = dict(gt="<=", ge="<", lt=">=", le=">")


def value(text, kind):
    """An operand as C."""
    if text[0] == "%":
        return f"r{text[1:]}"
    if text in ("true", "false", "undef", "zeroinitializer"):
        return str(int(text == "true"))
    if kind != "float":
        return f"{int(text) & (2**64 - 1 if kind == 'i64' else 2**32 - 1)}u" + ("ll" if kind == "i64" else "")
    number = struct.unpack(">d", bytes.fromhex(text[2:]))[0] if text.startswith("0x") else float(text)
    if abs(number) == float("inf"):
        return "INFINITY" if number > 0 else "(-INFINITY)"
    return f"({number.hex()}f)" if number == number else "NAN"


class Translator:
    def __init__(self, text):
        self.declared, self.lines, self.phis, self.resources, self.loads, self.words = [], [], {}, {}, {}, {}
        self.block = "0"
        for name, length, words in re.findall(r"@(\S+) = [^\n]*constant \[(\d+) x i32\] \[(.*?)\]", text):
            words = ", ".join(value(word, "i32") for word in re.findall(r"i32 (\S+?)(?:,|$)", words))
            self.declared.append(f"static const uint32_t {name.replace('.', '_')}[{length}] = {{{words}}};")
        for line in text.split("define void @main() {")[1].split("\n}")[0].splitlines():
            if label := re.match(r"; <label>:(\d+)", line):
                self.block = label[1]
                self.lines.append(f"L{self.block}:;")
            elif line := re.split(r" +; ", line)[0].strip():
                result, text = re.match(r"(?:%(\d+) = )?(.*)", line).groups()
                if not self.matched(result, text):
                    raise ValueError(line)

    def body(self):
        return "\n".join(self.declared + [line if isinstance(line, str) else self.jump(*line) for line in self.lines])

    def jump(self, here, yes, no=None, condition=None):
        def to(label):
            moves = self.phis.get((here, label), [])
            return "".join(f"t{r} = {v}; " for r, v in moves) + "".join(f"r{r} = t{r}; " for r, _ in moves) + f"goto L{label};"

        return f"if ({condition}) {{ {to(yes)} }} else {{ {to(no)} }}" if condition else to(yes)

    def put(self, result, kind, text):
        self.declared.append(f"{TYPES[KINDS[kind]]} r{result};")
        self.lines.append(f"r{result} = {text};")
        return True

    def matched(self, result, text):
        """Writes an instruction if it is known. Returns whether it is."""
        match = lambda pattern: re.fullmatch(pattern, text)
        if match("ret void"):
            self.lines.append("return;")
        elif m := match(r"br label %(\d+)"):
            self.lines.append((self.block, m[1]))
        elif m := match(r"br i1 (\S+), label %(\d+), label %(\d+)"):
            self.lines.append((self.block, m[2], m[3], value(m[1], "i1")))
        elif m := match(r"phi (?:fast )?(\S+) (.*)"):
            kind = TYPES[KINDS[m[1]]]
            self.declared.append(f"{kind} r{result}, t{result};")
            for from_, block in re.findall(r"\[ (\S+), %(\d+) \]", m[2]):
                self.phis.setdefault((block, self.block), []).append((result, value(from_, m[1])))
        elif m := match(r"call %dx.types.Handle @dx.op.createHandle\(i32 57, i8 \d, i32 \d+, i32 (\d+), i1 false\)"):
            self.resources[result] = ["block", "out"][int(m[1])] if int(m[1]) < 2 else f"in[{int(m[1]) - 2}]"
        elif m := match(r"call \S+ @dx.op.cbufferLoadLegacy.i32\(i32 59, \S+ \S+, i32 (\d+)\)"):
            self.loads[result] = [f"block[{int(m[1]) * 4 + i}]" for i in range(4)]
        elif m := match(r"call \S+ @dx.op.bufferLoad.i32\(i32 68, \S+ %(\d+), i32 (\S+), i32 undef\)"):
            self.loads[result] = [f"((uint32_t*){self.resources[m[1]]})[{value(m[2], 'i32')} / 4 + {i}]" for i in range(4)]
        elif m := match(r"getelementptr \[\d+ x i32\], \[\d+ x i32\]\* @(\S+), i32 0, i32 (\S+)"):
            self.words[result] = f"{m[1].replace('.', '_')}[{value(m[2], 'i32')}]"
        elif m := match(r"load i32, i32\* %(\d+), align 4"):
            self.put(result, "i32", self.words[m[1]])
        elif m := match(r"extractvalue \S+ %(\d+), (\d)"):
            self.put(result, "i32", self.loads[m[1]][int(m[2])])
        elif m := match(r"call void @dx.op.bufferStore.i32\(i32 69, \S+ %(\d+), i32 (\S+), i32 undef, i32 (\S+), i32 (\S+), i32 (\S+), i32 (\S+), i8 (\d+)\)"):
            for i in range(int(m[7]).bit_length()):
                self.lines.append(f"((uint32_t*){self.resources[m[1]]})[{value(m[2], 'i32')} / 4 + {i}] = {value(m[3 + i], 'i32')};")
        else:
            return self.computes(result, text, match)
        return True

    def computes(self, result, text, match):
        put = lambda kind, form: self.put(result, kind, form)
        if m := match(r"call i32 @dx.op.threadId.i32\(i32 93, i32 (\d)\)"):
            return put("i32", "id" if m[1] == "0" else "0")
        if m := match(r"call (\S+) @dx.op.(?:unary|unaryBits|isSpecialFloat)\.\w+\(i32 (\d+), (\S+) (\S+)\)"):
            return put(m[1], f"{UNARY[int(m[2])]}({value(m[4], m[3])})")
        if m := match(r"call (\S+) @dx.op.binary\.\w+\(i32 (\d+), (\S+) (\S+), \S+ (\S+)\)"):
            return put(m[1], f"{BINARY[int(m[2])]}({value(m[4], m[3])}, {value(m[5], m[3])})")
        if m := match(r"call float @dx.op.tertiary.f32\(i32 46, float (\S+), float (\S+), float (\S+)\)"):
            a, b, c = (value(m[i], "float") for i in (1, 2, 3))
            return put("float", f"{a} * {b} + {c}")
        if m := match(r"(fadd|fsub|fmul|fdiv)(?: fast)? float (\S+), (\S+)"):
            return put("float", f"{value(m[2], 'float')} {ARITHMETIC[m[1]]} {value(m[3], 'float')}")
        if m := match(r"(add|sub|mul|and|or|xor|udiv|urem)(?: nuw| nsw| exact)* (\S+) (\S+), (\S+)"):
            return put(m[2], f"{value(m[3], m[2])} {ARITHMETIC[m[1]]} {value(m[4], m[2])}")
        if m := match(r"(shl|lshr|ashr)(?: nuw| nsw| exact)* (i32|i64) (\S+), (\S+)"):
            signed = f"(int{m[2][1:]}_t)" if m[1] == "ashr" else ""
            return put(m[2], f"{signed}{value(m[3], m[2])} {'<<' if m[1] == 'shl' else '>>'} ({value(m[4], m[2])} & {int(m[2][1:]) - 1})")
        if m := match(r"icmp (\w+) (\S+) (\S+), (\S+)"):
            signed = f"(int{m[2][1:]}_t)" if m[1][0] == "s" else ""
            return put("i1", f"{signed}{value(m[3], m[2])} {ORDERS[m[1][-2:]]} {signed}{value(m[4], m[2])}")
        if m := match(r"fcmp (?:fast )?(o|u)(eq|ne|gt|ge|lt|le) float (\S+), (\S+)"):
            a, b = value(m[3], "float"), value(m[4], "float")
            if m[1] + m[2] in ("one", "ueq"):
                return put("i1", f"{'' if m[1] == 'o' else '!'}({a} < {b} || {a} > {b})")
            if m[1] == "u" and m[2] != "ne":
                return put("i1", f"!({a} {OPPOSITE[m[2]]} {b})")
            return put("i1", f"{a} {ORDERS[m[2]]} {b}")
        if m := match(r"select i1 (\S+), (\S+) (\S+), \S+ (\S+)"):
            return put(m[2], f"{value(m[1], 'i1')} ? {value(m[3], m[2])} : {value(m[4], m[2])}")
        if m := match(r"bitcast (\S+) (\S+) to (\S+)"):
            from_, to = TYPES[KINDS[m[1]]], TYPES[KINDS[m[3]]]
            return put(m[3], f"{from_}_as_{to}({value(m[2], m[1])})")
        if m := match(r"(u|s)itofp (\S+) (\S+) to float"):
            return put("float", f"(float)({'int32_t' if m[1] == 's' else 'uint32_t'}){value(m[3], m[2])}")
        if m := match(r"fpto(u|s)i float (\S+) to i32"):
            return put("i32", f"to_{'u' if m[1] == 'u' else 'i'}32({value(m[2], 'float')})")
        if m := match(r"(zext|sext) (\S+) (\S+) to (\S+)"):
            return put(m[4], f"{'-' if m[1] == 'sext' else ''}({TYPES[KINDS[m[4]]]}){value(m[3], m[2])}")
        return False


def body(path):
    with open(path, errors="replace") as file:
        return Translator(file.read()).body()
