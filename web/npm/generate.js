// Writes what the op table decides, from the built module: the functions, and the types of functions and methods.
//
//   node generate.js PACKAGE
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.argv[2]);
const { dtypes, initSync, table } = await import(pathToFileURL(join(folder, 'core.js')));
initSync({ module: await readFile(join(folder, 'core_bg.wasm')) });
const rows = table();

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const comment = (text, indent) => `${indent}/** ${text.replace(/\[`(.+?)`\](\(.*?\))?/g, '`$1`').replaceAll('*/', '* /')} */`;
/** The parameters of an operation, by the letters of its description. */
const parameters = (arity) => ['a', 'b', 'c'].slice(0, arity).map((name) => `${name}: Operand`);

/** `var` names no constant, but an export may have the name. */
const named = (name) => (name === 'var' ? 'variance' : camel(name));
const exported = (name) => (name === 'var' ? '\nexport { variance as var };' : '');

const make = ({ name, arity, kind }) => `${name === 'var' ? '' : 'export '}const ${named(name)} = ${kind === 'reduction' ? `reduction('${name}')` : `operation('${name}', ${arity})`};${exported(name)}`;

function types({ name, arity, doc, kind, keeps }) {
  const takes = kind === 'reduction' ? `axes?: Axes, options?: ${keeps ? 'ScanOptions' : 'ReduceOptions'}` : parameters(arity);
  const [all, method] = kind === 'reduction' ? [`x: Tensor, ${takes}`, takes] : [takes.join(', '), takes.slice(1).join(', ')];
  return {
    function: `${comment(doc, '')}\n${name === 'var' ? 'declare' : 'export'} function ${named(name)}(${all}): Tensor;${exported(name)}`,
    method: `${comment(doc, '  ')}\n  ${camel(name)}(${method}): Tensor;`,
  };
}

const header = '// Made from the op table by generate.js.\n';
await writeFile(join(folder, 'operations.js'),
  `${header}import { operation, reduction } from './tensor.js';\n\n${rows.map(make).join('\n')}\n`);
const all = rows.map(types);
const names = dtypes().map((name) => `'${name}'`).join(' | ');
await writeFile(join(folder, 'index.d.ts'), `${header}${await readFile(new URL('types.d.ts', import.meta.url), 'utf8')}
/** The element types, as Rust names them. Arithmetic of f64 needs the CPU path. */
export type DType = ${names};

// Operations, compositions and reductions. A reduction takes all axes if none is given.
export interface Tensor {
${all.map((own) => own.method).join('\n')}
}

${all.map((own) => own.function).join('\n')}
`);
console.log(`${rows.length} names of the op table`);
