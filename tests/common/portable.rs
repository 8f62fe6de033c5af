//! Every kernel, written by naga in the languages of all backends.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use naga::back::{glsl, hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

fn parsed(text: &str) -> Result<(naga::Module, ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|e| e.emit_to_string(text))?;
    let wide = Capabilities::SHADER_INT64 | Capabilities::FLOAT64;
    let halves = Capabilities::SHADER_FLOAT16 | Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    let info = Validator::new(ValidationFlags::all(), wide | halves)
        .validate(&module)
        .map_err(|e| e.emit_to_string(text))?;
    Ok((module, info))
}

/// A kernel as SPIR-V without what naga adds: no bound on loops, and no workgroup memory cleared.
pub fn spirv(text: &str) -> Result<Vec<u32>, String> {
    let (module, info) = parsed(text)?;
    let options = spv::Options {
        lang_version: (1, 3),
        force_loop_bounding: false,
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        ..Default::default()
    };
    spv::write_vec(&module, &info, &options, None).map_err(|e| format!("SPIR-V: {e}"))
}

/// Whether a kernel has one of some types.
pub fn has_types(text: &str, types: &[&str]) -> bool {
    let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.any(|line| {
        line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| types.contains(&word))
    })
}

/// Writes one kernel as SPIR-V, MSL, HLSL and GLSL ES: once in a program, whichever tests make it.
pub fn write_all(text: &str) -> Result<(), String> {
    static WRITTEN: Mutex<Option<HashSet<u64>>> = Mutex::new(None);
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    if !WRITTEN.lock().unwrap().get_or_insert_default().insert(hasher.finish()) {
        return Ok(());
    }
    let (module, info) = parsed(text)?;

    spv::write_vec(&module, &info, &spv::Options::default(), None).map_err(|e| format!("SPIR-V: {e}"))?;

    // Metal has no f64.
    if !text.contains("f64") {
        let options = msl::Options { fake_missing_bindings: true, ..Default::default() };
        msl::write_string(&module, &info, &options, &msl::PipelineOptions::default())
            .map_err(|e| format!("MSL: {e}"))?;
    }

    let mut written = String::new();
    let options = hlsl::Options { fake_missing_bindings: true, ..Default::default() };
    let pipeline = hlsl::PipelineOptions::default();
    hlsl::Writer::new(&mut written, &options, &pipeline)
        .write(&module, &info, None)
        .map_err(|e| format!("HLSL: {e}"))?;

    // GLSL ES has no types of 64 bits and no f16; adapters that have them speak another language.
    if has_types(text, &["i64", "u64", "f64", "f16"]) {
        return Ok(());
    }
    let mut written = String::new();
    let options = glsl::Options {
        version: glsl::Version::Embedded { version: 310, is_webgl: false },
        ..Default::default()
    };
    let pipeline = glsl::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: "main".into(),
        multiview: None,
    };
    let policies = naga::proc::BoundsCheckPolicies::default();
    glsl::Writer::new(&mut written, &module, &info, &options, &pipeline, policies)
        .map_err(|e| format!("GLSL: {e}"))?
        .write()
        .map_err(|e| format!("GLSL: {e}"))?;
    Ok(())
}
