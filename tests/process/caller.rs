//! The caller's device and buffers: nothing of theirs is replaced or overwritten.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::program::{self, Program, in_every_program};
use crate::common::{Random, program::programs};
use zerostride::{AnyExpr, AnyTensor, DType, Device, Element, ErrorKind, Expr, Numeric, Tensor, wgpu};

const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE;
const BOTH: wgpu::BufferUsages = STORAGE.union(wgpu::BufferUsages::COPY_SRC);

#[test]
fn a_device_is_adopted_once() {
    in_every_program(|program| {
        let again = Device::from_wgpu(&program.device, &program.queue).unwrap();
        assert!(again.same(&program.ours), "{}", program.name);
        let (device, queue) = again.wgpu().unwrap();
        assert!(device == program.device && queue == program.queue);
        assert_eq!(again.name(), program.ours.name());
        // Tensors of one may be combined with tensors of the other.
        let x = again.upload(&[1.0_f32, 2.0], [2]).unwrap();
        let y = program.ours.upload(&[3.0_f32, 4.0], [2]).unwrap();
        assert_eq!((x + y).to_vec().unwrap(), [4.0, 6.0]);
    });
    for (i, one) in programs().iter().enumerate() {
        assert!(programs()[..i].iter().all(|other| !other.ours.same(&one.ours)));
    }
}

/// wgpu numbers the devices of each instance anew, and compares the numbers.
#[test]
fn devices_of_two_instances_are_two() {
    programs();
    for opened in crate::common::adapters().filter(|device| !device.name().contains("(gl)")) {
        let (first, first_queue) = opened.wgpu().unwrap();
        assert!(Device::from_wgpu(&first, &first_queue).unwrap().same(opened));
    }
    let vulkan = || {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::VULKAN;
        descriptor.flags = wgpu::InstanceFlags::VALIDATION | wgpu::InstanceFlags::DEBUG;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
        adapter.map(|adapter| program::open(&adapter, wgpu::Features::empty(), adapter.limits()))
    };
    let (Ok((a, a_queue)), Ok((b, b_queue))) = (vulkan(), vulkan()) else {
        return crate::common::cannot_run("there is no adapter of Vulkan");
    };
    assert!(a == b, "as wgpu sees them");
    let (a, b) = (Device::from_wgpu(&a, &a_queue).unwrap(), Device::from_wgpu(&b, &b_queue).unwrap());
    assert!(!a.same(&b));
    let (x, y) = (a.full([3], 1.0_f32).unwrap(), b.full([3], 2.0_f32).unwrap());
    assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![1.0; 3], vec![2.0; 3]));
    assert_eq!((x + y).eval().unwrap_err().kind(), ErrorKind::Device);
    program::nothing_was_said("two instances");
}

/// wgpu would report them to their owner, or end the process.
#[test]
fn objects_of_another_device_are_refused() {
    in_every_program(|program| {
        let same_adapter = |other: &&Program| other.adapter == program.adapter && other.name != program.name;
        let Some(other) = programs().iter().find(same_adapter) else { return };
        let refused = |what: &str, outcome: Result<(), zerostride::Error>| {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Resource, "{}: {error}", program.name);
            assert!(error.message().contains("of another device"), "{what}: {error}");
            assert!(error.location().is_some_and(|at| at.file() == file!()), "{error}");
        };
        let buffer = other.buffer(&[0; 64], BOTH);
        refused("from_buffer", Tensor::<f32>::from_buffer(&program.ours, &buffer, 0, [4], &[1]).map(drop));
        let texture = other.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: 4, height: 2, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Float,
            usage: wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let x = program.ours.zeros::<f32>([2, 4]).unwrap();
        refused("copy_to_texture", x.copy_to_texture(texture.as_image_copy()));
        refused(
            "from_texture",
            Tensor::<f32>::from_texture(&program.ours, texture.as_image_copy()).map(drop),
        );
        let mut encoder = program.encoder();
        refused("record_to_texture", (&x + 1.0).record_to_texture(&mut encoder, texture.as_image_copy()));
        // The encoder is as it was.
        (&x + 1.0).record_into(&mut encoder, &x).unwrap();
        program.submit(encoder);
        assert_eq!(x.to_vec().unwrap(), [1.0; 8]);
    });
}

#[test]
fn types_of_64_bits_need_no_feature() {
    in_every_program(|program| {
        for dtype in [DType::I64, DType::F64] {
            let buffer = program.buffer(&[0; 16], STORAGE);
            let made = AnyTensor::from_buffer(&program.ours, &buffer, dtype, 0, [2], &[1]).unwrap();
            let uploaded = program.ours.upload_bytes(&[0; 16], dtype, [2]).unwrap();
            assert_eq!(made.to_bytes().unwrap(), uploaded.to_bytes().unwrap());
        }
        // What binds more than the device does is computed in parts.
        let all: Vec<Tensor<f32>> = (0..12).map(|i| program.ours.full([5], i as f32).unwrap()).collect();
        let sum = all.iter().fold(Expr::scalar(0.0), |sum, x| sum + x);
        assert_eq!(sum.to_vec().unwrap(), [66.0; 5]);
    });
}

/// A reduction and a softmax, large and odd, as on the CPU path.
#[test]
fn everything_computes_on_an_adopted_device() {
    let values: Vec<f32> = (0..37 * 1001).map(|i| (i % 251) as f32 / 16.0).collect();
    let on = |device: &Device| {
        let x = device.upload(&values, [37, 1001]).unwrap();
        let row = device.upload(&values[..37], [37, 1]).unwrap();
        [(&x * &row).sum(1).to_vec().unwrap(), (&x - &row).max_keepdim(0).to_vec().unwrap()]
    };
    let right = on(&Device::cpu());
    in_every_program(|program| assert_eq!(on(&program.ours), right, "{}", program.name));
}

/// A buffer as the program has it, and as a model has it.
struct Model<T> {
    buffer: wgpu::Buffer,
    host: Vec<T>,
}

/// Assigns through many layouts over buffers of exactly some bytes, and compares all of them.
fn sweep<T: Numeric + bytemuck::Pod>(program: &Program, seed: u64, usage: wgpu::BufferUsages) {
    let mut random = Random(seed);
    let lanes = 4 / size_of::<T>().min(4);
    // Lesser devices differ in bindings and windows only.
    let cases = if program.name.ends_with("all") { 10 } else { 3 };
    for case in 0..cases {
        // Groups of elements that fill words, for 16 bits pairs of words.
        let group = if size_of::<T>() == 2 { 4 } else { lanes };
        let count = group * (1 + random.below(if case % 3 == 0 { 40 } else { 7 }));
        let bytes: Vec<u8> = (0..count * size_of::<T>()).map(|_| (random.next() % 3) as u8).collect();
        let host: Vec<T> = bytemuck::pod_collect_to_vec(&bytes);
        let mut model = Model { buffer: program.buffer(&bytes, usage), host };
        for _ in 0..3 {
            step(program, &mut random, &mut model);
        }
    }
}

fn step<T: Numeric + bytemuck::Pod>(program: &Program, random: &mut Random, model: &mut Model<T>) {
    let count = model.host.len();
    // One or two axes, of either direction, anywhere.
    let (stride, first) = (1 + random.below(3), random.below(count));
    let length = 1 + random.below((count - 1 - first) / stride + 1);
    let rows = 1 + random.below(3);
    let (shape, mut strides) = match rows * length * stride + first < count {
        true => (vec![rows, length], vec![(length * stride) as isize, stride as isize]),
        false => (vec![1, length], vec![0, stride as isize]),
    };
    let mut at = first;
    if random.chance(30) {
        at += (length - 1) * stride;
        strides[1] = -(stride as isize);
    }
    let places: Vec<usize> = (0..shape[0] * shape[1])
        .map(|i| {
            let (row, column) = ((i / length) as isize, (i % length) as isize);
            (at as isize + row * strides[0] + column * strides[1]) as usize
        })
        .collect();
    let offset = (at * size_of::<T>()) as u64;
    let tensor =
        Tensor::<T>::from_buffer(&program.ours, &model.buffer, offset, shape.clone(), &strides).unwrap();
    let read = |tensor: &Tensor<T>| tensor.to_vec().unwrap();
    let right: Vec<T> = places.iter().map(|&at| model.host[at]).collect();
    assert_eq!(read(&tensor), right, "{} {shape:?} {strides:?} from {at} of {count}", program.name);

    // The elements of the time of the call.
    let later = tensor.expr().eval_async();

    // In place, of a reversed self, of a sum, or of another tensor.
    let flipped = tensor.flip(1);
    let value: Expr<T> = match random.below(4) {
        0 => &tensor + &tensor,
        1 => flipped.clone(),
        2 => tensor.expr().sum_keepdim(1).broadcast_to(shape.clone()),
        _ => (&tensor + &flipped).eval().unwrap().expr(),
    };
    let written = value.to_vec().unwrap();
    match random.below(3) {
        0 => tensor.assign(&value).unwrap(),
        // Buffers without COPY_DST among them.
        1 => tensor.write(&written).unwrap(),
        _ => {
            let mut encoder = program.encoder();
            value.record_into(&mut encoder, &tensor).unwrap();
            program.submit(encoder);
        }
    }
    assert_eq!(read(&pollster::block_on(later).unwrap()), right, "{}", program.name);
    places.iter().zip(written).for_each(|(&at, value)| model.host[at] = value);
    let all = Tensor::<T>::from_buffer(&program.ours, &model.buffer, 0, [count], &[1]).unwrap();
    assert_eq!(read(&all), model.host, "{} {shape:?} {strides:?} from {at} of {count}", program.name);
}

#[test]
fn neighbours_in_a_buffer_are_kept() {
    in_every_program(|program| {
        sweep::<f32>(program, 1, BOTH);
        sweep::<u8>(program, 2, BOTH);
        sweep::<i16>(program, 3, BOTH);
        sweep::<i32>(program, 4, STORAGE);
        sweep::<i8>(program, 5, STORAGE);
        sweep::<u16>(program, 7, STORAGE);
        sweep::<zerostride::f16>(program, 8, BOTH);
        sweep::<i64>(program, 6, BOTH);
    });
}

/// Reductions and wide loads read a buffer to its end, which is inside of a vector.
#[test]
fn odd_ends_are_read_as_they_are() {
    in_every_program(|program| {
        for count in [1, 2, 3, 5, 7, 9, 15, 17, 63, 66, 257, 1023, 4099] {
            let host: Vec<f32> = (0..count).map(|i| i as f32 - 7.0).collect();
            let buffer = program.buffer(bytemuck::cast_slice(&host), STORAGE);
            let x = Tensor::<f32>::from_buffer(&program.ours, &buffer, 0, [count], &[1]).unwrap();
            let y = Device::cpu().upload(&host, [count]).unwrap();
            assert_eq!(x.to_vec().unwrap(), host);
            assert_eq!(x.sum(..).to_vec().unwrap(), y.sum(..).to_vec().unwrap(), "{count}");
            assert_eq!(x.min(..).to_vec().unwrap(), y.min(..).to_vec().unwrap());
            assert_eq!(x.cumsum(0).to_vec().unwrap(), y.cumsum(0).to_vec().unwrap());
            assert_eq!((x.flip(0) * 2.0).to_vec().unwrap(), (y.flip(0) * 2.0).to_vec().unwrap());
            let [stepped, right] = [&x, &y].map(|t| t.slice_step(0, .., 2).to_vec().unwrap());
            assert_eq!(stepped, right);
        }
    });
}

/// Two tensors of one buffer are one storage, also of different types.
#[test]
fn tensors_of_one_buffer_overlap() {
    in_every_program(|program| {
        let host: Vec<u32> = (0..32).collect();
        let buffer = program.buffer(bytemuck::cast_slice(&host), BOTH);
        let of =
            |offset: u64| Tensor::<u32>::from_buffer(&program.ours, &buffer, offset, [16], &[1]).unwrap();
        let (low, high) = (of(0), of(4));
        high.assign(&low + 100).unwrap();
        assert_eq!(high.to_vec().unwrap(), (100..116).collect::<Vec<u32>>());
        let floats = Tensor::<f32>::from_buffer(&program.ours, &buffer, 0, [16], &[1]).unwrap();
        let bytes = Tensor::<u8>::from_buffer(&program.ours, &buffer, 0, [64], &[1]).unwrap();
        floats.assign(low.cast::<f32>()).unwrap();
        let right: Vec<f32> = (0..16).map(|i| if i == 0 { 0.0 } else { 99.0 + i as f32 }).collect();
        assert_eq!(floats.to_vec().unwrap(), right);
        let raw: Vec<u8> = bytemuck::cast_slice(&right).to_vec();
        assert_eq!(bytes.to_vec().unwrap(), raw);
        bytes.slice(0, 1..).assign(bytes.slice(0, ..63)).unwrap();
        program.ours.flush().unwrap();
        let moved: Vec<u8> = std::iter::once(raw[0]).chain(raw[..63].iter().copied()).collect();
        assert_eq!(&program.read(&buffer)[..64], moved);
    });
}

/// A program's buffer never becomes memory of other tensors: neither while tensors over it live, nor when they are gone, nor
/// when the work on it has run.
#[test]
fn a_buffer_of_the_programs_never_enters_the_pool() {
    in_every_program(|program| {
        let ours = &program.ours;
        let host: Vec<u32> = (0..1024).collect();
        let buffer = program.buffer(bytemuck::cast_slice(&host), BOTH);
        ours.synchronize().unwrap();
        let before = ours.memory();
        let x = Tensor::<u32>::from_buffer(ours, &buffer, 0, [1024], &[1]).unwrap();
        let lent = x.slice(0, 8..).tensor().unwrap().buffer().unwrap();
        x.assign(&x + 1).unwrap();
        let mut encoder = program.encoder();
        (&x * 2).record_into(&mut encoder, &x).unwrap();
        drop((x, lent));
        program.submit(encoder);
        ours.synchronize().unwrap();
        let after = ours.memory();
        assert_eq!((after.used, after.idle), (before.used, before.idle), "{}", program.name);
        // As many of its size as would have to take it.
        let others: Vec<Tensor<u32>> = (0..40).map(|i| ours.full([1024], i).unwrap()).collect();
        for other in &others {
            assert!(other.buffer().unwrap().buffer() != &buffer, "{}", program.name);
        }
        let right: Vec<u32> = host.iter().map(|i| (i + 1) * 2).collect();
        assert_eq!(program.read(&buffer), bytemuck::cast_slice::<u32, u8>(&right), "{}", program.name);
        // It is the owner's to do away with.
        buffer.destroy();
        assert_eq!(others[39].to_vec().unwrap(), [39; 1024]);
    });
}

#[test]
fn a_lent_buffer_is_not_used_again() {
    in_every_program(|program| {
        let ours = &program.ours;
        let x = (ours.upload(&[1_u32, 2, 3, 4, 5], [5]).unwrap() * 10).eval().unwrap();
        let lent = x.slice(0, 1..4).tensor().unwrap().buffer().unwrap();
        assert_eq!((lent.offset(), lent.size(), lent.dtype()), (4, 12, DType::U32));
        // It was submitted: the program sees it.
        let seen = program.read(lent.buffer());
        assert_eq!(seen[4..16], *bytemuck::bytes_of(&[20_u32, 30, 40]));
        // Handed in again, it is the same memory, and knows of overlaps.
        let same = Tensor::<u32>::from_buffer(ours, lent.buffer(), 0, [4], &[1]).unwrap();
        same.assign(x.slice(0, 1..)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [20, 30, 40, 50, 50]);
        drop((x, same));
        let used = ours.memory().used;
        let others: Vec<Tensor<u32>> = (0..20).map(|i| ours.full([5], i).unwrap()).collect();
        assert_eq!(program.read(lent.buffer())[..4], 20_u32.to_ne_bytes());
        drop((lent, others));
        assert!(ours.memory().used < used, "{}", program.name);
        // A pass of the program's own.
        let y = ours.upload(&[1_u32, 2, 3], [3]).unwrap();
        let lent = y.buffer().unwrap();
        let mut encoder = program.encoder();
        program.pass(&mut encoder, &program.adder(5), lent.binding(), 3);
        program.submit(encoder);
        assert_eq!((&y + 1).to_vec().unwrap(), [7, 8, 9]);
    });
    let cpu = Device::cpu().full([2], 1.0_f32).unwrap();
    assert_eq!(
        cpu.buffer().unwrap_err().message(),
        "cpu has no buffers of wgpu: use the device of an adapter, as of Device::from_wgpu"
    );
}

#[test]
fn what_is_wrong_with_a_buffer_is_said() {
    in_every_program(|program| {
        let ours = &program.ours;
        let buffer = program.buffer(&[0; 24], STORAGE);
        let error = |buffer: &wgpu::Buffer, dtype, offset, shape: &[usize], strides: &[isize]| {
            let made = AnyTensor::from_buffer(ours, buffer, dtype, offset, shape, strides);
            let error = made.unwrap_err();
            (error.kind(), error.message().to_string())
        };
        let expect = |got: (ErrorKind, String), kind, text: &str| assert_eq!(got, (kind, text.to_string()));
        expect(
            error(&buffer, DType::F32, 2, &[2], &[1]),
            ErrorKind::Resource,
            "f32 [2] at byte 2 of a buffer: elements begin at multiples of 4 bytes",
        );
        expect(
            error(&buffer, DType::F32, 8, &[5], &[1]),
            ErrorKind::Axis,
            "[5] with strides [1] from element 2 reaches elements 2 to 6 of a storage that holds 6",
        );
        expect(
            error(&buffer, DType::F32, 0, &[2], &[-1]),
            ErrorKind::Axis,
            "[2] with strides [-1] from element 0 reaches elements -1 to 0 of a storage that holds 6",
        );
        expect(
            error(&buffer, DType::F32, 0, &[2], &[1, 1]),
            ErrorKind::Shape,
            "2 strides for the 1 axes of [2]",
        );
        expect(
            error(&program.buffer(&[0; 12], STORAGE), DType::F16, 0, &[5], &[1]),
            ErrorKind::Resource,
            "f16 [5] ends with byte 10 of a buffer of 12, and its elements are read and written by 8 bytes: create the buffer with 16 bytes",
        );
        let (kind, text) =
            error(&program.buffer(&[0; 12], wgpu::BufferUsages::VERTEX), DType::U8, 0, &[5], &[1]);
        assert_eq!(kind, ErrorKind::Resource);
        assert!(text.ends_with("kernels bind it, so create it with BufferUsages::STORAGE too"), "{text}");
        // An odd number of bytes. The last word is incomplete.
        let odd = program.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 7,
            usage: STORAGE,
            mapped_at_creation: false,
        });
        assert!(AnyTensor::from_buffer(ours, &odd, DType::U8, 1, [3], &[1]).is_ok());
        assert_eq!(error(&odd, DType::U8, 1, &[4], &[1]).0, ErrorKind::Resource);
        // Nothing of a tensor without elements is read.
        let none = Tensor::<f32>::from_buffer(ours, &buffer, 4, [0, 3], &[3, 1]).unwrap();
        assert!((&none + 1.0).to_vec().unwrap().is_empty());
        none.assign(0.0).unwrap();
        // Elements twice.
        let twice = Tensor::<f32>::from_buffer(ours, &buffer, 0, [3, 4], &[1, 1]).unwrap();
        assert_eq!(twice.assign(1.0).unwrap_err().kind(), ErrorKind::Alias);
        assert_eq!(twice.as_strided([7], &[1], 0).tensor().unwrap_err().kind(), ErrorKind::Axis);
    });
}

/// The owner's callback gets its own mistakes, and not the errors of this crate.
#[test]
fn callbacks_stay_the_owners() {
    programs();
    for adapter in program::adapters(&program::instance()) {
        if adapter.get_info().backend == wgpu::Backend::Gl {
            continue; // another instance of GL while one is in use fails inside of wgpu
        }
        let (device, queue) = program::open(&adapter, wgpu::Features::empty(), adapter.limits());
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let list = told.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            list.lock().unwrap().push(error.to_string());
        }));
        let lost = Arc::new(AtomicBool::new(false));
        let flag = lost.clone();
        device.set_device_lost_callback(move |_, _| flag.store(true, Ordering::SeqCst));

        let ours = Device::from_wgpu(&device, &queue).unwrap();
        let name = ours.name();
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 64,
                usage,
                mapped_at_creation: false,
            })
        };
        // A buffer that its owner destroys while work on it waits.
        let gone = buffer(BOTH);
        let x = Tensor::<f32>::from_buffer(&ours, &gone, 0, [16], &[1]).unwrap();
        x.assign(1.0).unwrap();
        gone.destroy();
        let error = device_error(&ours);
        assert_eq!(error.kind(), ErrorKind::Kernel, "{name}: {error}");
        assert!(error.message().contains("destroyed"), "{error}");
        assert!(Tensor::<f32>::from_buffer(&ours, &gone, 0, [16], &[1]).is_ok(), "known still");
        drop(x);
        assert_eq!(
            Tensor::<f32>::from_buffer(&ours, &gone, 0, [16], &[1]).unwrap_err().kind(),
            ErrorKind::Resource
        );
        assert!(told.lock().unwrap().is_empty(), "{name}: {told:?}");
        // All goes on.
        let y = ours.upload(&[1.0_f32, 2.0], [2]).unwrap();
        assert_eq!((&y + 1.0).to_vec().unwrap(), [2.0, 3.0]);
        // The owner's own mistake is the owner's.
        let _ = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE);
        assert_eq!(told.lock().unwrap().len(), 1);
        assert!((&y + 1.0).to_vec().is_ok());

        let recorded = (&y * 3.0).eval().unwrap();
        device.destroy();
        assert_eq!(ours.synchronize().unwrap_err().kind(), ErrorKind::Lost, "{name}");
        assert!(ours.is_lost() && lost.load(Ordering::SeqCst));
        for error in [
            recorded.to_vec().unwrap_err(),
            (&y + 1.0).eval().unwrap_err(),
            y.assign(1.0).unwrap_err(),
            ours.flush().unwrap_err(),
            ours.upload(&[1.0_f32], [1]).unwrap_err(),
            y.buffer().unwrap_err(),
            Expr::scalar(1.0)
                .record_into(&mut device.create_command_encoder(&Default::default()), &y)
                .unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Lost, "{name}: {error}");
        }
        assert_eq!(told.lock().unwrap().len(), 1, "{told:?}");
    }
}

/// The results of a flush and a wait after a failure.
fn device_error(device: &Device) -> zerostride::Error {
    device.flush().and_then(|()| device.synchronize()).unwrap_err()
}

#[test]
fn untyped_work_is_recorded_too() {
    in_every_program(|program| {
        let x = program.ours.upload_bytes(&[1, 2, 3, 4, 5], DType::U8, [5]).unwrap();
        let mut encoder = program.encoder();
        AnyExpr::call("square", &[x.expr()]).record_into(&mut encoder, &x).unwrap();
        program.submit(encoder);
        assert_eq!(x.to_bytes().unwrap(), [1, 4, 9, 16, 25]);
        let error = x.expr().cast(DType::F32).record_into(&mut program.encoder(), &x).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Type);
    });
}

#[test]
fn elements_are_of_the_type_that_is_named() {
    fn is<T: Element>(program: &Program) {
        let buffer = program.buffer(&[0; 64], STORAGE);
        let x = Tensor::<T>::from_buffer(&program.ours, &buffer, 0, [8], &[1]).unwrap();
        assert_eq!(x.to_vec().unwrap(), vec![T::ZERO; 8]);
    }
    in_every_program(|program| {
        is::<zerostride::f16>(program);
        is::<zerostride::bf16>(program);
        is::<bool>(program);
        is::<u16>(program);
    });
}

/// A buffer of the program's that is larger than a binding and ends within a vector, and tensors in several buffers.
#[test]
fn what_is_larger_than_a_binding() {
    for program in programs().iter().filter(|program| program.name.ends_with("all")) {
        let mut limits = program.adapter.limits();
        limits.max_buffer_size = 1 << 16;
        limits.max_storage_buffer_binding_size = 1 << 14;
        limits.max_uniform_buffer_binding_size = limits.max_uniform_buffer_binding_size.min(1 << 14);
        let (device, queue) = program::open(&program.adapter, wgpu::Features::empty(), limits);
        let ours = Device::from_wgpu(&device, &queue).unwrap();
        let count = 15_359;
        let host: Vec<f32> = (0..count).map(|i| (i % 301) as f32).collect();
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4 * count as u64,
            usage: STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&host));
        let x = Tensor::<f32>::from_buffer(&ours, &buffer, 0, [count], &[1]).unwrap();
        assert_eq!(x.to_vec().unwrap(), host, "{}", program.name);
        let right = Device::cpu().upload(&host, [count]).unwrap();
        assert_eq!(x.sum(..).to_vec().unwrap(), right.sum(..).to_vec().unwrap());
        x.slice(0, 1..).assign(x.slice(0, ..count - 1) + 0.5).unwrap();
        let flipped = (x.flip(0) * 2.0).to_vec().unwrap();
        let moved: Vec<f32> =
            std::iter::once(host[0]).chain(host[..count - 1].iter().map(|x| x + 0.5)).collect();
        assert_eq!(flipped, moved.iter().rev().map(|x| x * 2.0).collect::<Vec<f32>>());
        let halves =
            Tensor::<zerostride::f16>::from_buffer(&ours, &buffer, 0, [count * 2 - 2], &[1]).unwrap();
        let zero = zerostride::f16::ZERO;
        halves.slice_step(0, 1.., 2).assign(zero).unwrap();
        let kept = x.to_vec().unwrap();
        for (i, (got, was)) in kept.iter().zip(&moved).enumerate() {
            let right = if i < count - 1 { was.to_bits() & 0xffff } else { was.to_bits() };
            assert_eq!(got.to_bits(), right, "{} {i}", program.name);
        }
        // In an encoder.
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        (&x * 0.0 + 3.0).record_into(&mut encoder, &x).unwrap();
        queue.submit([encoder.finish()]);
        assert_eq!(x.to_vec().unwrap(), vec![3.0; count]);

        let long = ours.zeros::<f32>([5, 10_000]).unwrap();
        let error = long.buffer().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.message().ends_with("(max_buffer_size): take slices of it"), "{error}");
        let row = long.slice(0, ..1).tensor().unwrap().buffer().unwrap();
        assert_eq!(row.size(), 40_000);
        drop(row);
    }
    program::nothing_was_said("larger than a binding");
}
