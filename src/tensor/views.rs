//! Views of tensors, of the list that expressions have too.

use super::{AnyTensor, Tensor};
use crate::dtype::Element;
use crate::error::Result;
use crate::expr::for_each_view;

macro_rules! views {
    ($($(#[doc = $doc:literal])+ $name:ident($($arg:ident: $t:ty),*) as $eg:literal, $shape:expr,
        $(let $held:ident = $value:expr,)? |$l:ident| $view:expr;)*) => {
        /// Views: other layouts of the same elements. Nothing is copied.
        impl AnyTensor {$(
            $(#[doc = $doc])+
            ///
            /// # Errors
            /// When the tensor has no such view; the text names axis, bounds and shape.
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            /// let x = device.zeros_any(zerostride::DType::U8, [2, 3])?;
            #[doc = concat!("assert_eq!(x.", $eg, "?.shape(), &", stringify!($shape), ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            pub fn $name(&self, $($arg: $t),*) -> Result<Self> {
                $(let $held = $value;)?
                let $l = self.layout();
                Ok(self.with($view?))
            }
        )*}

        /// Views: other layouts of the same elements. Nothing is copied.
        impl<T: Element> Tensor<T> {$(
            $(#[doc = $doc])+
            ///
            /// # Errors
            /// When the tensor has no such view; the text names axis, bounds and shape.
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            /// let x = device.zeros::<f32>([2, 3])?;
            #[doc = concat!("assert_eq!(x.", $eg, "?.shape(), &", stringify!($shape), ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            pub fn $name(&self, $($arg: $t),*) -> Result<Self> {
                Ok(Self::face(self.any.$name($($arg),*)?))
            }
        )*}
    };
}
for_each_view!(views);
