//! The WGSL of a user's function, as naga parses it.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Module, ScalarKind, TypeInner, VectorSize};

use crate::dtype::DType;
use crate::error::{Result, bail};

/// Checks that a text has functions, constants, structs and aliases only, and the function, over lanes of these types.
pub(crate) fn check(name: &str, text: &str, args: &[DType], result: DType) -> Result<()> {
    let module = parse(name, text)?;
    let kind = match () {
        () if !module.entry_points.is_empty() => Some("an entry point"),
        () if !module.global_variables.is_empty() => Some("a global variable or a binding"),
        () if !module.overrides.is_empty() => Some("an override"),
        () => None,
    };
    if let Some(kind) = kind {
        bail!(
            Operation,
            "the WGSL of {name} has {kind}: a part of a kernel has functions, constants, structs and aliases alone"
        );
    }
    check_signature(name, &module, args, result)
}

/// Checks that a function under its own name can be called.
pub(crate) fn check_call(name: &str, own: &str, text: &str, args: &[DType]) -> Result<()> {
    let zeros: Vec<String> = args.iter().map(|&dtype| format!("vec4<{}>()", scalar(dtype))).collect();
    let call = format!("_ = {own}({});", zeros.join(", "));
    let main = format!("{text}\n@compute @workgroup_size(1)\nfn {own}_main() {{ {call} }}\n");
    parse(name, &main).map(drop)
}

/// The type that computes an element.
fn scalar(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "f64",
        DType::I32 => "i32",
        DType::U32 => "u32",
        _ => "f32",
    }
}

/// Parses and validates a text.
fn parse(name: &str, text: &str) -> Result<Module> {
    let place = |at: Option<naga::SourceLocation>| match at {
        Some(at) => format!(", line {}, column {}", at.line_number, at.line_position),
        None => String::new(),
    };
    let module = match naga::front::wgsl::parse_str(text) {
        Ok(module) => module,
        Err(error) => {
            bail!(Operation, "the WGSL of {name}{}: {}", place(error.location(text)), error.message())
        }
    };
    let capabilities = Capabilities::SHADER_INT64 | Capabilities::FLOAT64;
    match Validator::new(ValidationFlags::all(), capabilities).validate(&module) {
        Ok(_) => Ok(module),
        Err(error) => {
            let mut message = error.as_inner().to_string();
            let mut source = std::error::Error::source(error.as_inner());
            while let Some(inner) = source {
                message = format!("{message}: {inner}");
                source = inner.source();
            }
            bail!(Operation, "the WGSL of {name}{}: {message}", place(error.location(text)))
        }
    }
}

/// Checks that the module has the function, over lanes of these types.
fn check_signature(name: &str, module: &Module, args: &[DType], result: DType) -> Result<()> {
    let function = module.functions.iter().find(|(_, function)| function.name.as_deref() == Some(name));
    let Some((_, function)) = function else {
        let names: Vec<&str> =
            module.functions.iter().filter_map(|(_, function)| function.name.as_deref()).collect();
        let has = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        bail!(Operation, "the WGSL of {name} has no function of that name, but {has}");
    };
    let lanes = |ty| match module.types[ty].inner {
        TypeInner::Vector { size: VectorSize::Quad, scalar: of } => match (of.kind, of.width) {
            (ScalarKind::Float, 4) => "vec4<f32>",
            (ScalarKind::Float, 8) => "vec4<f64>",
            (ScalarKind::Sint, 4) => "vec4<i32>",
            (ScalarKind::Uint, 4) => "vec4<u32>",
            _ => "another vec4",
        },
        _ => "no vec4",
    };
    let own: Vec<&str> = function.arguments.iter().map(|argument| lanes(argument.ty)).collect();
    let gives = function.result.as_ref().map_or("nothing", |result| lanes(result.ty));
    let own = format!("({}) -> {gives}", own.join(", "));
    let wanted: Vec<String> = args.iter().map(|&dtype| format!("vec4<{}>", scalar(dtype))).collect();
    let wanted = format!("({}) -> vec4<{}>", wanted.join(", "), scalar(result));
    if own != wanted {
        bail!(Type, "{name} is {own} in WGSL, and its closure is {wanted} of lanes: change one of them");
    }
    Ok(())
}
