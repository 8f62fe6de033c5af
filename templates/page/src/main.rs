//! A page that computes a picture by WebGPU, or by the CPU path without it, and prints the same checksum everywhere.

use wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};
use zerostride::{Device, Expr, Result};

const SIDE: usize = 512;

/// The colour of every pixel, of four channels: waves around the middle. Change this.
fn picture() -> Expr<f32> {
    let along = |axis| Expr::iota([SIDE, SIDE, 1], axis).cast::<f32>() / SIDE as f32 - 0.5;
    let (y, x) = (along(0), along(1));
    let channel = Expr::iota([4], 0).cast::<f32>();
    let wave = ((&x * &x + &y * &y).sqrt() * 60.0 + &channel).sin() * 0.5 + 0.5;
    channel.eq(3.0).select(1.0, wave) // opaque
}

/// The bytes of the picture, its checksum and the device's name.
async fn computed() -> Result<(Vec<u8>, u32, String)> {
    let device = Device::open_async().await?;
    let pixels = (picture() * 255.0).cast::<u8>().eval_on(&device)?;
    let checksum = pixels.checksum().eval_async().await?.to_vec_async().await?[0];
    Ok((pixels.to_vec_async().await?, checksum, device.name()))
}

async fn show() -> std::result::Result<(), JsValue> {
    let document = web_sys::window().and_then(|window| window.document()).ok_or("no document")?;
    let element = |id: &str| document.get_element_by_id(id).ok_or("no such element");
    let (pixels, checksum, device) = computed().await.map_err(|error| JsValue::from(error.to_string()))?;
    let canvas: HtmlCanvasElement = element("picture")?.unchecked_into();
    let context: CanvasRenderingContext2d = canvas.get_context("2d")?.ok_or("no canvas")?.unchecked_into();
    let image = ImageData::new_with_u8_clamped_array(Clamped(&pixels), SIDE as u32)?;
    context.put_image_data(&image, 0.0, 0.0)?;
    element("text")?.set_text_content(Some(&format!("{checksum:08x} on {device}")));
    Ok(())
}

fn main() {
    wasm_bindgen_futures::spawn_local(async {
        show().await.unwrap_or_else(|error| wasm_bindgen::throw_val(error));
    });
}
