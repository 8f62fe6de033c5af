//! Shapes, layouts, element types and broadcasting rules by the crate `serde`. A shape is a list, a layout its parts, a
//! type its name, and a rule its name with its fields. Data is checked when it is read.
//!
//! ```
//! use zerostride::{Broadcast, DType, Layout, Shape};
//!
//! let rule = Broadcast::Pdpd { axis: 1 };
//! let text = serde_json::to_string(&rule).unwrap();
//! assert_eq!(text, r#"{"Pdpd":{"axis":1}}"#);
//! assert_eq!(serde_json::from_str::<Broadcast>(&text).unwrap(), rule);
//!
//! assert_eq!(serde_json::to_string(&Shape::from([2, 3])).unwrap(), "[2,3]");
//! assert_eq!(serde_json::to_string(&DType::BF16).unwrap(), r#""bf16""#);
//!
//! let text = r#"{"shape":[2,3],"strides":[-3,1],"offset":3}"#;
//! let layout: Layout = serde_json::from_str(text).unwrap();
//! assert_eq!(layout.addresses().collect::<Vec<_>>(), [3, 4, 5, 0, 1, 2]);
//! assert_eq!(serde_json::to_string(&layout).unwrap(), text);
//!
//! let error = serde_json::from_str::<Layout>(r#"{"shape":[2],"strides":[-1],"offset":0}"#).unwrap_err();
//! assert!(error.to_string().contains("reaches elements -1 to 0"));
//! ```

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Broadcast, DType, Layout, Shape};

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self[..].serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shape = Shape::from(Vec::<usize>::deserialize(deserializer)?);
        shape.count().map_err(D::Error::custom)?;
        Ok(shape)
    }
}

impl Serialize for DType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for DType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = DType::ALL.into_iter().find(|dtype| dtype.name() == name);
        found.ok_or_else(|| D::Error::custom(format_args!("no element type is called '{name}'")))
    }
}

/// The parts of a layout.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Layout", deny_unknown_fields)]
struct Parts {
    shape: Shape,
    strides: Vec<isize>,
    offset: usize,
}

impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (shape, strides) = (self.shape().clone(), self.strides().to_vec());
        Parts { shape, strides, offset: self.offset() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parts { shape, strides, offset } = Parts::deserialize(deserializer)?;
        Layout::strided(shape, &strides, offset, isize::MAX as usize).map_err(D::Error::custom)
    }
}

/// The rules, as they are written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Broadcast")]
enum Rule {
    None,
    NumPy,
    Pdpd { axis: isize },
    Paddle { axis: isize },
    Bidirectional,
    Explicit { axes: Vec<usize> },
}

impl Serialize for Broadcast {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Rule::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Broadcast {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Rule::deserialize(deserializer)
    }
}
