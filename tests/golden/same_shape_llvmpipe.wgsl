struct Params {
    pitch: u32,
    vectors: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in1: array<vec4<f32>>;

@compute @workgroup_size(256, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i_0 = (id.y * p.pitch + id.x) * 4u;
    if (i_0 >= p.vectors) { return; }
    let i_1 = min(i_0 + 1u, p.vectors - 1u);
    let i_2 = min(i_0 + 2u, p.vectors - 1u);
    let i_3 = min(i_0 + 3u, p.vectors - 1u);
    let v0_0 = in0[i_0];
    let v1_0 = in1[i_0];
    let v0_1 = in0[i_1];
    let v1_1 = in1[i_1];
    let v0_2 = in0[i_2];
    let v1_2 = in1[i_2];
    let v0_3 = in0[i_3];
    let v1_3 = in1[i_3];
    let v2_0 = v0_0 + v1_0;
    let v2_1 = v0_1 + v1_1;
    let v2_2 = v0_2 + v1_2;
    let v2_3 = v0_3 + v1_3;
    result[i_0] = v2_0;
    result[i_1] = v2_1;
    result[i_2] = v2_2;
    result[i_3] = v2_3;
}
