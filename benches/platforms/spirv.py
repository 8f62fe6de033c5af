"""Translates SPIR-V to C, so that compiled kernels run anywhere, and a compiler that takes floats for real numbers can
compile them. Every component of a vector becomes a variable. It knows only the instructions of the crate's kernels and
of vkd3d's translations of them."""
import re
import subprocess

from ctext import TYPES

OPERATORS = dict(
    FAdd="+", FSub="-", FMul="*", FDiv="/", IAdd="+", ISub="-", IMul="*", UDiv="/", UMod="%", BitwiseAnd="&", BitwiseOr="|",
    BitwiseXor="^", LogicalAnd="&", LogicalOr="|", LogicalEqual="==", LogicalNotEqual="!=", IEqual="==", INotEqual="!=",
    ULessThan="<", ULessThanEqual="<=", UGreaterThan=">", UGreaterThanEqual=">=", FOrdEqual="==", FOrdLessThan="<",
    FOrdLessThanEqual="<=", FOrdGreaterThan=">", FOrdGreaterThanEqual=">=", FUnordNotEqual="!=")
ARITHMETIC = {"FAdd", "FSub", "FMul", "FDiv", "Sqrt", "Fma"}
SIGNED = dict(SLessThan="<", SLessThanEqual="<=", SGreaterThan=">", SGreaterThanEqual=">=", SDiv="/", SRem="%")
OPPOSITE = dict(FUnordEqual="<>", FUnordLessThan=">=", FUnordLessThanEqual=">", FUnordGreaterThan="<=", FUnordGreaterThanEqual="<")
FUNCTIONS = dict(
    FAbs="fabs", Sqrt="sqrt", RoundEven="rint", Floor="floor", Fract="fraction", Ceil="ceil", Trunc="trunc", Exp2="exp2", Log2="log2", Exp="exp",
    Log="log", Sin="sin", Cos="cos", Tan="tan", Tanh="tanh", Fma="mad", FMin="least", FMax="most", NMin="least", NMax="most")
INTEGERS = dict(SMin="imin", SMax="imax", UMin="umin", UMax="umax")
NOTHING = {
    "Capability", "MemoryModel", "EntryPoint", "ExecutionMode", "Name", "MemberName", "Source", "SelectionMerge", "LoopMerge", "Function",
    "FunctionEnd", "Extension", "ExtInstImport", "TypeFunction", "Unreachable", "MemberDecorate"}


class Translator:
    passes = ["--inline-entry-points-exhaustive", "--eliminate-dead-functions"]

    def __init__(self, path, vkd3d):
        # vkd3d writes no functions, and sometimes code that spirv-opt refuses.
        command = ["cat", path] if vkd3d else ["spirv-opt", *self.passes, path, "-o", "-"]
        words = subprocess.run(command, capture_output=True, check=True).stdout
        text = subprocess.run(["spirv-dis", "--raw-id", "--no-indent", "--no-header", "-"], input=words, capture_output=True, check=True).stdout
        self.types, self.kinds, self.values, self.pointers, self.bindings = {}, {}, {}, {}, {}
        self.declared, self.lines, self.phis, self.block = [], [], {}, None
        for line in text.decode().splitlines():
            result, op, operands = re.match(r"(?:(%\d+) = )?Op(\w+) ?(.*)", line).groups()
            self.instruction(result, op, operands.split())

    def body(self, first=False):
        """The kernel as the text of a C function. With `first` it computes the first component of each result alone, as all
        components are computed by the same operations."""
        self.wanted = None
        if first:
            self.want_first()
        lines = [line if isinstance(line, str) else self.jump(*line) for line in self.lines if not isinstance(line, str) or self.is_kept(line)]
        declared = [line for line in self.declared if self.wanted is None or "[" in line or line.split()[1].strip(",;") in self.wanted]
        return "\n".join(declared + lines)

    def jump(self, here, default, *cases):
        def to(label):
            moves = [(name, value) for result, value in self.phis.get((here, label), []) for name, value in zip(self.values[result], self.values[value])]
            moves = [(name, value) for name, value in moves if self.wanted is None or name in self.wanted]
            return "".join(f"t{name} = {value}; " for name, value in moves) + "".join(f"{name} = t{name}; " for name, _ in moves) + f"goto L{label[1:]};"

        return "".join(f"if ({condition}) {{ {to(label)} }} " for condition, label in cases) + to(default)

    # What a line sets: a variable, or an element of an array at a constant place.
    SETS = re.compile(r"([vm]\d+(?:_\d+)?(?:\[\d+\])?) = (.*);")
    NAMES = re.compile(r"\b[vm]\d+(?:_\d+)?(?:\[\d+\])?")

    def is_kept(self, line):
        if self.wanted is None:
            return True
        if line.startswith("(("):
            return "+ 0] = " in line or "*)out)[" not in line
        found = self.SETS.fullmatch(line)
        return not found or found[1] in self.wanted or found[1].split("[")[0] in self.wanted

    def want_first(self):
        """Wants the variables that first components of results and jumps read. An array of which a computed place is read
        is wanted as a whole."""
        self.wanted, reads, todo = set(), {}, []
        for line in self.lines:
            if not isinstance(line, str):
                todo += self.NAMES.findall(" ".join(condition for condition, _ in line[2:]))
            elif found := self.SETS.fullmatch(line):
                of = self.NAMES.findall(found[2])
                for name in {found[1], found[1].split("[")[0]}:
                    reads.setdefault(name, []).extend(of)
            elif self.is_kept(line):
                todo += self.NAMES.findall(line)
        for moves in self.phis.values():
            for result, value in moves:
                for name, text in zip(self.values[result], self.values[value]):
                    reads.setdefault(name, []).extend(self.NAMES.findall(text))
        while todo:
            name = todo.pop()
            if name not in self.wanted:
                self.wanted.add(name)
                todo += reads.get(name, ())

    def leaves(self, kind):
        """The scalars that a type is made of."""
        name, *of = self.types[kind]
        if name in ("vector", "array"):
            return self.leaves(of[0]) * of[1]
        return sum(map(self.leaves, of[0]), []) if name == "struct" else [name]

    def member(self, kind, index):
        """The type of a member, and the number of the first scalar of it."""
        name, of = self.types[kind][:2]
        if name == "struct":
            return of[index], sum(len(self.leaves(before)) for before in of[:index])
        return of, index * len(self.leaves(of))

    def put(self, result, kind, texts):
        names = [f"v{result[1:]}_{i}" for i in range(len(texts))]
        for name, leaf, text in zip(names, self.leaves(kind), texts):
            self.declared.append(f"{TYPES[leaf]} {name}, tv{name[1:]};" if text is None else f"{TYPES[leaf]} {name};")
            if text is not None:
                self.lines.append(f"{name} = {text};")
        self.values[result], self.kinds[result] = names, kind

    def chain(self, result, base, indices):
        place, kind, first = self.pointers[base]
        for index in indices:
            text = self.values[index][0]
            if re.fullmatch(r"\d+u", text):
                kind, offset = self.member(kind, int(text[:-1]))
                first = f"{first} + {offset}"
            else:
                kind = self.types[kind][1]
                first = f"{first} + {text} * {len(self.leaves(kind))}"
        self.pointers[result] = place, kind, first

    def scalars(self, pointer):
        """The scalars behind a pointer as C."""
        place, kind, first = self.pointers[pointer]
        leaves = self.leaves(kind)
        if isinstance(place, list):
            return place[eval(first) :][: len(leaves)]
        read = "uint32_t_as_float({})" if place == "block" and leaves[0] == "f32" else "{}"
        if place[0] == "m" and re.fullmatch(r"[\d +]+", first):
            return [f"{place}[{eval(first) + i}]" for i in range(len(leaves))]
        place = place if place[0] in "bm" else f"(({TYPES[leaves[0]]}*){place})"
        return [read.format(f"{place}[{first} + {i}]") for i in range(len(leaves))]

    def variable(self, result, pointer, storage, initial=None):
        kind = self.types[pointer][1]
        if storage == "Input":
            place = ["id", "0", "0"]
        elif storage in ("Function", "Private"):
            place, leaves = f"m{result[1:]}", self.leaves(kind)
            if len(set(leaves)) == 1:
                self.declared.append(f"{TYPES[leaves[0]]} {place}[{len(leaves)}] = {{0}};")
            else:
                self.declared += [f"{TYPES[leaf]} {place}_{i} = 0;" for i, leaf in enumerate(leaves)]
                place = [f"{place}_{i}" for i in range(len(leaves))]
            self.pointers[result] = place, kind, "0"
            self.lines += [f"{to} = {value};" for to, value in zip(self.scalars(result), self.values.get(initial, []))]
            return
        elif self.types[kind][0] == "image":
            # vkd3d numbers inputs from 1, after the constants, and outputs come last.
            place = "out" if self.types[kind][1] else f"in[{self.bindings[result] - 1}]"
        else:
            binding = self.bindings[result]
            place = ["block", "out"][binding] if binding < 2 else f"in[{binding - 2}]"
        self.pointers[result] = place, kind, "0"

    def constant(self, kind, text):
        leaf = self.types[kind][0]
        if leaf[0] != "f":
            return f"{int(text) & (1 << int(leaf[1:])) - 1}u" + ("ll" if leaf.endswith("64") else "")
        if beyond := re.fullmatch(r"(-?)0x1(?:\.(\w+))?p\+128", text):
            # Infinity, NaN, or an integer in a register of floats.
            bits = (0xFF800000 if beyond[1] else 0x7F800000) | int(((beyond[2] or "") + "000000")[:6], 16) >> 1
            return f"uint32_t_as_float({bits}u)"
        value = float.fromhex(text) if "x" in text else float(text)
        # The shortest decimal of an f32 is read as one by C.
        return f"({value!r}f)" if leaf == "f32" else f"({value!r})"

    def instruction(self, result, op, args):
        if op in NOTHING:
            return
        if op == "Decorate":
            if args[1] == "Binding":
                self.bindings[args[0]] = int(args[2])
        elif op.startswith("Type"):
            size = lambda: int(self.values[args[1]][0][:-1])
            self.types[result] = {
                "Void": lambda: ("void",), "Bool": lambda: ("bool",), "Float": lambda: (f"f{args[0]}",), "Int": lambda: (f"u{args[0]}",),
                "Vector": lambda: ("vector", args[0], int(args[1])), "Array": lambda: ("array", args[0], size()), "RuntimeArray": lambda: ("array", args[0], 0),
                "Struct": lambda: ("struct", args), "Pointer": lambda: ("pointer", args[1]), "Image": lambda: ("image", args[6] == "2"),
            }[op[4:]]()  # fmt: skip
        elif op == "Constant":
            self.values[result], self.kinds[result] = [self.constant(*args)], args[0]
        elif op in ("ConstantTrue", "ConstantFalse", "ConstantNull", "Undef"):
            self.values[result], self.kinds[result] = [str(int(op == "ConstantTrue"))] * len(self.leaves(args[0])), args[0]
        elif op in ("ConstantComposite", "CompositeConstruct"):
            self.values[result], self.kinds[result] = sum((self.values[arg] for arg in args[1:]), []), args[0]
        elif op == "Variable":
            self.variable(result, *args)
        elif op in ("AccessChain", "InBoundsAccessChain"):
            self.chain(result, args[1], args[2:])
        elif op == "Load" and self.types[args[0]][0] == "image":
            self.pointers[result] = self.pointers[args[1]]
        elif op == "Load":
            self.put(result, args[0], self.scalars(args[1]))
        elif op == "Store":
            self.lines += [f"{to} = {value};" for to, value in zip(self.scalars(args[0]), self.values[args[1]])]
        elif op == "CopyMemory":
            self.lines += [f"{to} = {value};" for to, value in zip(self.scalars(args[0]), self.scalars(args[1]))]
        elif op in ("ImageFetch", "ImageRead"):
            word = f"((uint32_t*){self.pointers[args[1]][0]})[{self.values[args[2]][0]}]"
            self.put(result, args[0], [word] + ["0"] * 3)
        elif op == "ImageWrite":
            self.lines.append(f"((uint32_t*)out)[{self.values[args[1]][0]}] = {self.values[args[2]][0]};")
        elif op == "Label":
            self.block = result
            self.lines.append(f"L{result[1:]}:;")
        elif op == "Branch":
            self.lines.append((self.block, args[0]))
        elif op == "BranchConditional":
            self.lines.append((self.block, args[2], (self.values[args[0]][0], args[1])))
        elif op == "Switch":
            value = self.values[args[0]][0]
            cases = [(f"{value} == {number}u", label) for number, label in zip(args[2::2], args[3::2])]
            self.lines.append((self.block, args[1], *cases))
        elif op == "Return":
            self.lines.append("return;")
        elif op == "Phi":
            self.put(result, args[0], [None] * len(self.leaves(args[0])))
            for value, block in zip(args[1::2], args[2::2]):
                self.phis.setdefault((block, self.block), []).append((result, value))
        elif op == "CompositeExtract":
            kind, first = self.kinds[args[1]], 0
            for index in args[2:]:
                kind, offset = self.member(kind, int(index))
                first += offset
            self.values[result], self.kinds[result] = self.values[args[1]][first:][: len(self.leaves(kind))], kind
        elif op == "CompositeInsert":
            kind, first = args[0], 0
            for index in args[3:]:
                kind, offset = self.member(kind, int(index))
                first += offset
            values = list(self.values[args[2]])
            values[first : first + len(self.leaves(kind))] = self.values[args[1]]
            self.values[result], self.kinds[result] = values, args[0]
        elif op == "VectorExtractDynamic":
            (index,), own = self.values[args[2]], self.values[args[1]]
            picked = " : ".join(f"{index} == {i} ? {lane}" for i, lane in enumerate(own[:-1]))
            self.put(result, args[0], [f"({picked} : {own[-1]})"])
        elif op == "VectorShuffle":
            both = self.values[args[1]] + self.values[args[2]]
            self.values[result], self.kinds[result] = [both[int(i)] for i in args[3:]], args[0]
        elif op == "CopyObject" and args[1] in self.pointers:
            self.pointers[result] = self.pointers[args[1]]
        elif op == "CopyObject":
            self.values[result], self.kinds[result] = self.values[args[1]], args[0]
        else:
            self.compute(result, op, *args)

    def compute(self, result, op, kind, *args):
        to = self.leaves(kind)[0]
        if op == "ExtInst":
            op, args = args[1], args[2:]
        operands = [self.values[arg] for arg in args]
        # Amounts of bit fields and factors of vectors have one component.
        most = max(map(len, operands))
        operands = [operand * most if len(operand) < most else operand for operand in operands]
        of = self.leaves(self.kinds[args[0]])[0]
        wide = of.endswith("64")
        signed = f"(int{64 if wide else 32}_t)"
        float_suffix = "f" if to == "f32" else ""
        if op in ("Any", "All"):
            return self.put(result, kind, [f"({' | '.join(operands[0])})" if op == "Any" else f"({' & '.join(operands[0])})"])
        forms = {
            "FNegate": "-{0}", "SNegate": "-{0}", "Not": "~{0}", "LogicalNot": "!{0}", "Select": "{0} ? {1} : {2}", "IsNan": "is_nan({0})",
            "IsInf": "is_inf({0})", "FClamp": f"least{float_suffix}(most{float_suffix}({{0}}, {{1}}), {{2}})", "VectorTimesScalar": f"made{float_suffix}({{0}} * {{1}})",
            "ShiftLeftLogical": f"{{0}} << ({{1}} & {63 if wide else 31})", "ShiftRightLogical": f"{{0}} >> ({{1}} & {63 if wide else 31})",
            "ShiftRightArithmetic": f"{signed}{{0}} >> ({{1}} & {63 if wide else 31})", "ConvertUToF": f"({TYPES[to]}){{0}}",
            "ConvertSToF": f"({TYPES[to]}){signed}{{0}}", "ConvertFToU": f"to_{to}({{0}})", "ConvertFToS": f"to_i{to[1:]}({{0}})", "UConvert": "{0}",
            "SConvert": f"(int64_t)(int32_t){{0}}", "FConvert": "{0}", "FindUMsb": "high_bit({0})", "FindILsb": "low_bit({0})", "BitReverse": "reversed({0})",
            "SClamp": "imin(imax({0}, {1}), {2})", "UClamp": "umin(umax({0}, {1}), {2})", "BitCount": "__builtin_popcount({0})",
            "BitFieldInsert": "inserted({0}, {1}, {2}, {3})", "BitFieldUExtract": "extracted({0}, {1}, {2})",
            "BitFieldSExtract": "(int32_t)(extracted({0}, {1}, {2}) << (32 - {2})) >> (32 - {2})",
        }  # fmt: skip
        if op == "Bitcast":
            same = (to[0] == "f") == (of[0] == "f")
            form = "{0}" if same else f"{TYPES[of]}_as_{TYPES[to]}({{0}})"
        elif op in OPERATORS:
            form = f"{{0}} {OPERATORS[op]} {{1}}"
            form = f"made{float_suffix}({form})" if op in ARITHMETIC else form
        elif op in SIGNED:
            form = f"{signed}{{0}} {SIGNED[op]} {signed}{{1}}"
        elif op in OPPOSITE:
            form = f"!({{0}} {OPPOSITE[op]} {{1}})" if op != "FUnordEqual" else "!({0} < {1} || {0} > {1})"
        elif op == "FOrdNotEqual":
            form = "({0} < {1} || {0} > {1})"
        elif op in FUNCTIONS:
            form = f"{FUNCTIONS[op]}{float_suffix}({', '.join('{%d}' % i for i in range(len(operands)))})"
            form = f"made{float_suffix}({form})" if op in ARITHMETIC else form
        elif op in INTEGERS:
            form = f"{INTEGERS[op]}{'64' if wide else ''}({{0}}, {{1}})"
        else:
            form = forms[op]
        self.put(result, kind, [form.format(*lanes) for lanes in zip(*operands)])


def body(path, vkd3d=False, first=False):
    return Translator(path, vkd3d).body(first)
