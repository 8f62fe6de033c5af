// The steps of main.rs, as a program would write them.
const SYSTEMS = 64u;
const LOOK = 100u;
const MASSES = array<f32, 3>(3.0, 4.0, 5.0);
const TIME = 1.0 / 1024.0;
const SOFT = 0.09;

// x and y of each body, then its speed along both; system by system within each.
@group(0) @binding(0) var<storage, read_write> values: array<f32>;

@compute @workgroup_size(SYSTEMS)
fn main(@builtin(local_invocation_index) system: u32) {
    let masses = MASSES;
    var place: array<vec2<f32>, 3>;
    var speed: array<vec2<f32>, 3>;
    for (var i = 0u; i < 3u; i++) {
        let at = 2u * i * SYSTEMS + system;
        place[i] = vec2<f32>(values[at], values[at + SYSTEMS]);
        speed[i] = vec2<f32>(values[at + 6u * SYSTEMS], values[at + 7u * SYSTEMS]);
    }
    for (var turn = 0u; turn < LOOK; turn++) {
        var pull = array<vec2<f32>, 3>();
        for (var i = 0u; i < 3u; i++) {
            for (var j = 0u; j < 3u; j++) {
                if (i != j) {
                    let d = place[j] - place[i];
                    let w = inverseSqrt(d.x * d.x + d.y * d.y + SOFT);
                    pull[i] += d * (w * w * w * masses[j]);
                }
            }
        }
        for (var i = 0u; i < 3u; i++) {
            speed[i] += pull[i] * TIME;
            place[i] += speed[i] * TIME;
        }
    }
    for (var i = 0u; i < 3u; i++) {
        let at = 2u * i * SYSTEMS + system;
        values[at] = place[i].x;
        values[at + SYSTEMS] = place[i].y;
        values[at + 6u * SYSTEMS] = speed[i].x;
        values[at + 7u * SYSTEMS] = speed[i].y;
    }
}
