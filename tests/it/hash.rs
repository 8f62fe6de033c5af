//! `examples/hash` prints one hash on every device. The README, the table of devices and the page name it.

use std::sync::OnceLock;

#[path = "../../examples/hash/work.rs"]
mod work;

#[test]
fn every_device_has_the_hash_of_the_pages() {
    static FIRST: OnceLock<Vec<(&str, String)>> = OnceLock::new();
    crate::common::on_every_device(|device| {
        let hash = |work: work::Work| {
            let result = work.expr.eval_on(&work.on(device)).unwrap();
            (work.name, work::hash(&result.to_bytes().unwrap()))
        };
        let hashes: Vec<(&str, String)> = work::all().into_iter().map(hash).collect();
        assert_eq!(&hashes, FIRST.get_or_init(|| hashes.clone()), "{}", device.name());
    });
    let all: String = FIRST.get().unwrap().iter().map(|(_, hash)| hash.as_str()).collect();
    let all = work::hash(all.as_bytes());
    assert!(include_str!("../../README.md").contains(&all), "the README does not name {all}");
    let rows = include_str!("../../docs/same-bits.md").lines().filter(|line| line.contains("| 0.1.0 |"));
    let rows: Vec<&str> = rows.collect();
    assert!(rows.len() >= 5 && rows.iter().all(|row| row.contains(&all)), "docs/same-bits.md, and not {all}");
    assert!(include_str!("../../web/page/bits.js").contains(&all), "the page does not name {all}");
}

/// The zoom is deep: it has detail where f32 has none.
#[test]
fn the_zoom_sees_what_f32_does_not() {
    let zoom = work::all().swap_remove(0);
    let turns = zoom.expr.eval_on(&zerostride::Device::cpu()).unwrap().to_bytes().unwrap();
    let mut turns: Vec<[u8; 4]> = turns.chunks_exact(4).map(|bytes| bytes.try_into().unwrap()).collect();
    assert_eq!(turns.len(), work::SIZE[0] * work::SIZE[1]);
    turns.sort_unstable();
    turns.dedup();
    let most = turns.iter().map(|&bytes| u32::from_le_bytes(bytes)).max();
    assert!(turns.len() > 10 && most <= Some(work::MOST), "{turns:?}");
}
