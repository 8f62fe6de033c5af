//! WGSL as the languages of other platforms, with the options that wgpu's backends give naga.

use std::fs;
use std::path::Path;

use naga::back::hlsl::{self, ShaderModel};
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// Writes every kernel of a folder into `sm51` (as FXC takes it), `sm60` (DXC) and `spv` below it.
pub fn all(folder: &Path) {
    for name in ["sm51", "sm60", "spv"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "wgsl") {
            one(folder, &path);
        }
    }
}

fn one(folder: &Path, path: &Path) {
    let (text, module, info) = parsed(path);
    let name = path.file_stem().unwrap().to_str().unwrap();
    // Shader model 5.1 has no types of 64 bits, and wgpu's DX12 no f64 at all.
    let wide = ["i64", "u64"].iter().any(|name| text.contains(name));
    if !text.contains("f64") {
        for (model, to, has_wide) in [(ShaderModel::V5_1, "sm51", false), (ShaderModel::V6_0, "sm60", true)] {
            if has_wide || !wide {
                fs::write(folder.join(to).join(format!("{name}.hlsl")), hlsl(&module, &info, model)).unwrap();
            }
        }
    }
    // As `Restrict` and `Unchecked` write different loads only, the simpler one.
    let words = spv(&module, &info, BoundsCheckPolicy::Unchecked);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(folder.join("spv").join(format!("{name}.spv")), bytes).unwrap();
}

/// A kernel as SPIR-V where the driver checks bounds, and where wgpu adds checks.
pub fn kernel(path: &Path) -> [Vec<u32>; 2] {
    let (_, module, info) = parsed(path);
    [BoundsCheckPolicy::Unchecked, BoundsCheckPolicy::Restrict].map(|policy| spv(&module, &info, policy))
}

fn parsed(path: &Path) -> (String, naga::Module, ModuleInfo) {
    let text = fs::read_to_string(path).unwrap();
    let module = naga::front::wgsl::parse_str(&text)
        .unwrap_or_else(|e| panic!("{path:?}: {}", e.emit_to_string(&text)));
    let capabilities = Capabilities::SHADER_INT64
        | Capabilities::FLOAT64
        | Capabilities::SHADER_FLOAT16
        | Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    let info = Validator::new(ValidationFlags::all(), capabilities).validate(&module);
    let info = info.unwrap_or_else(|e| panic!("{path:?}: {}", e.emit_to_string(&text)));
    (text, module, info)
}

fn spv(module: &naga::Module, info: &ModuleInfo, buffer: BoundsCheckPolicy) -> Vec<u32> {
    let policies = BoundsCheckPolicies { index: BoundsCheckPolicy::Restrict, buffer, ..Default::default() };
    let mut options = spv::Options {
        bounds_check_policies: policies,
        // As pipelines of the crate are made.
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        ..Default::default()
    };
    options.flags.remove(spv::WriterFlags::DEBUG);
    spv::write_vec(module, info, &options, None).unwrap()
}

fn hlsl(module: &naga::Module, info: &ModuleInfo, model: ShaderModel) -> String {
    let options = hlsl::Options {
        shader_model: model,
        fake_missing_bindings: true,
        zero_initialize_workgroup_memory: false,
        ..Default::default()
    };
    let pipeline = hlsl::PipelineOptions { entry_point: Some((naga::ShaderStage::Compute, "main".into())) };
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None).unwrap();
    text
}
