//! Checksums beside a loop over the words of the elements, on every device and for every type.

use zerostride::{AnyExpr, DType, Device, Expr, bf16, f16};

use crate::common::{Random, on_each_adapter, on_every_device};

/// The checksum of words, each at its place.
fn of_words(words: impl IntoIterator<Item = u32>) -> u32 {
    let mixed = |(place, word): (u32, u32)| {
        let mut x = word ^ place.wrapping_mul(0x9e37_79b9);
        x = (x ^ x >> 16).wrapping_mul(0x21f0_aaad);
        x = (x ^ x >> 15).wrapping_mul(0x735a_2d97);
        x ^ x >> 15
    };
    (1..).zip(words).map(mixed).fold(0, u32::wrapping_add)
}

/// The words of elements from their bytes. Floats of 16 bits are those of f32.
fn words(dtype: DType, bytes: &[u8]) -> Vec<u32> {
    let mut all = Vec::new();
    for element in bytes.chunks_exact(dtype.size()) {
        let mut wide = [0; 8];
        wide[..element.len()].copy_from_slice(element);
        let bits = u64::from_le_bytes(wide);
        let of_f32 = |value: f32| if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() };
        match dtype {
            DType::F16 => all.push(of_f32(f16::from_bits(bits as u16).to_f32())),
            DType::BF16 => all.push(of_f32(bf16::from_bits(bits as u16).to_f32())),
            DType::F32 => all.push(of_f32(f32::from_bits(bits as u32))),
            DType::I8 => all.push(bits as i8 as u32),
            DType::I16 => all.push(bits as i16 as u32),
            DType::F64 => {
                let bits = if f64::from_bits(bits).is_nan() { f64::NAN.to_bits() } else { bits };
                all.extend([bits as u32, (bits >> 32) as u32]);
            }
            DType::I64 | DType::U64 => all.extend([bits as u32, (bits >> 32) as u32]),
            _ => all.push(bits as u32),
        }
    }
    all
}

fn checksum(x: impl Into<AnyExpr>) -> u32 {
    x.into().checksum().eval().unwrap().to_vec::<u32>().unwrap()[0]
}

#[test]
fn every_type_has_the_checksum_of_its_words() {
    on_each_adapter(|device| {
        let mut random = Random(74);
        for dtype in DType::ALL.into_iter().filter(|&dtype| device.supports(dtype).is_ok()) {
            let count = 1 + random.below(3000);
            let mut bytes: Vec<u8> = (0..count * dtype.size()).map(|_| random.next() as u8).collect();
            if dtype == DType::Bool {
                bytes.iter_mut().for_each(|byte| *byte &= 1);
            }
            let is_float = matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
            // An adapter may take subnormal numbers for 0, so there are none here.
            for element in bytes.chunks_exact_mut(dtype.size()) {
                let last = element.last_mut().unwrap();
                *last = if is_float && *last & 0x7f < 2 { 0x3f } else { *last };
            }
            let x = device.upload_bytes(&bytes, dtype, [count]).unwrap();
            assert_eq!(checksum(&x), of_words(words(dtype, &bytes)), "{dtype} on {}", device.name());
        }
    });
}

#[test]
fn views_count_in_the_order_of_their_elements() {
    on_every_device(|device| {
        let x = device.upload(&(0..600).map(|i| i as f32).collect::<Vec<_>>(), [20, 30]).unwrap();
        let turned = x.permute([1, 0]);
        let copied = turned.to_vec().unwrap();
        assert_eq!(checksum(turned), of_words(copied.iter().map(|x| x.to_bits())));
        let wide = x.slice(0, 3..4).broadcast_to([5, 30]);
        let copied = wide.to_vec().unwrap();
        assert_eq!(checksum(wide), of_words(copied.iter().map(|x| x.to_bits())));
        assert_eq!(checksum(x.expr() * 2.0), checksum((x.expr() + x.expr()).eval().unwrap()));
    });
}

#[test]
fn every_bit_and_every_place_counts() {
    let device = Device::cpu();
    let of = |words: &[u32]| checksum(device.upload(words, [words.len()]).unwrap());
    let mut random = Random(75);
    let words: Vec<u32> = (0..100).map(|_| random.next() as u32).collect();
    let own = of(&words);
    for bit in 0..32 {
        for place in [0, 1, 50, 99] {
            let mut other = words.clone();
            other[place] ^= 1 << bit;
            assert_ne!(of(&other), own, "bit {bit} of word {place}");
            // Two signs that change, and two words that change places.
            other[(place + 7) % 100] ^= 1 << bit;
            assert_ne!(of(&other), own, "bit {bit} of words {place} and {}", (place + 7) % 100);
        }
    }
    let mut turned = words.clone();
    turned.swap(3, 4);
    assert_ne!(of(&turned), own);
    assert_ne!(of(&[0, 0]), of(&[0]));
    assert_eq!(of(&[]), 0);
    let zeros = |value: f32| checksum(device.full([3], value).unwrap());
    assert_ne!(zeros(-0.0), zeros(0.0));
    assert_eq!(zeros(f32::from_bits(0xffc0_0001)), zeros(f32::NAN));
    assert_eq!(Expr::<f32>::full([0], 1.0).checksum().to_vec_on(&device).unwrap(), [0]);
}
