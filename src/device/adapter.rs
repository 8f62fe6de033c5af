//! Adapters of the machine, and their names.

use super::{Device, wait_for};
use crate::error::{Result, bail};
use crate::gpu::{self, Found};
use crate::limits::Limits;
use crate::options::{AdapterKind, Options};

/// An adapter that can be opened, with what its driver says about it; or the CPU path.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// The adapter's name, or `cpu`.
    pub name: String,
    /// The interface that reaches it: `vulkan`, `metal`, `dx12`, `gl`, `webgpu` or `cpu`.
    pub backend: &'static str,
    /// Its place among the adapters of this interface, from 0 on: `vulkan:1` names the second.
    pub index: usize,
    /// What kind of machine it is.
    pub kind: AdapterKind,
    /// The driver and its version, if the driver says so.
    pub driver: String,
    found: Option<Found>,
}

/// The interfaces that reach adapters.
const INTERFACES: [&str; 5] = ["vulkan", "metal", "dx12", "gl", "webgpu"];

/// Longest number that is an index: longer ones are parts of cards' names.
const LONGEST_INDEX: usize = 2;

/// A name, taken apart.
struct Name<'a> {
    backend: Option<&'a str>,
    index: Option<usize>,
    part: &'a str,
}

impl Adapter {
    pub(super) fn cpu() -> Self {
        Adapter {
            name: "cpu".into(),
            backend: "cpu",
            index: 0,
            kind: AdapterKind::Cpu,
            driver: format!("this crate, {} threads", crate::cpu::thread_count()),
            found: None,
        }
    }

    /// All adapters of this machine, and the CPU path as the last.
    pub(super) async fn all() -> Vec<Adapter> {
        Adapter::of(gpu::find().await)
    }

    /// All adapters that another interface than GL reaches, and the CPU path.
    pub(super) async fn but_gl() -> Vec<Adapter> {
        Adapter::of(gpu::find_but_gl().await)
    }

    fn of(all_found: &[Found]) -> Vec<Adapter> {
        let mut all: Vec<Adapter> = Vec::new();
        for found in all_found {
            let backend = found.interface();
            all.push(Adapter {
                name: found.name().into(),
                backend,
                index: all.iter().filter(|other| other.backend == backend).count(),
                kind: found.kind(),
                driver: found.driver(),
                found: Some(found.clone()),
            });
        }
        all.push(Adapter::cpu());
        all
    }

    /// The first adapter of a name. GL is searched only if it is named or no other interface has the name.
    pub(super) async fn named(name: &str) -> Result<Adapter> {
        let is_gl = name.split(':').next().is_some_and(|first| first.eq_ignore_ascii_case("gl"));
        match Adapter::find(&Adapter::but_gl().await, name) {
            Ok(adapter) if !is_gl => Ok(adapter.clone()),
            _ => Adapter::find(&Adapter::all().await, name).cloned(),
        }
    }

    /// The first of some adapters that a name means.
    fn find<'a>(all: &'a [Adapter], name: &str) -> Result<&'a Adapter> {
        // The CPU path needs its full name, so that parts of it mean adapters.
        let mut fits =
            all.iter().filter(|adapter| adapter.found.is_some() || name.eq_ignore_ascii_case("cpu"));
        match fits.find(|adapter| adapter.matches(name)) {
            Some(adapter) => Ok(adapter),
            None => {
                let names: Vec<String> = all.iter().map(|a| format!("{} ({})", a.name, a.backend)).collect();
                bail!(Device, "no device matches '{name}': there are {}", names.join(", "))
            }
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn open(&self) -> Result<Device> {
        wait_for("Adapter::open", self.open_async())
    }

    /// [`open`](Self::open) without blocking, for the browser.
    ///
    /// # Errors
    /// When the driver refuses.
    pub async fn open_async(&self) -> Result<Device> {
        self.open_with(&Options::default()).await
    }

    pub(super) async fn open_with(&self, options: &Options) -> Result<Device> {
        match &self.found {
            None => Ok(Device::cpu()),
            Some(found) => Ok(Device::from_backend(gpu::open(found, options).await?)),
        }
    }

    /// The limits that matter here. The CPU path has none.
    pub fn limits(&self) -> Option<Limits> {
        self.found.as_ref().map(Found::limits)
    }

    /// The optional features that the adapter has, as wgpu names them.
    pub fn features(&self) -> Vec<&'static str> {
        self.found.iter().flat_map(Found::features).collect()
    }

    /// Whether a name, as [`Device::named`] takes it, means this adapter.
    ///
    /// ```
    /// let cpu = zerostride::Device::all().pop().unwrap();
    /// assert!(cpu.matches("CPU") && !cpu.matches("voodoo"));
    /// ```
    pub fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let name = Name::of(&name);
        name.backend.is_none_or(|backend| backend == self.backend)
            && match name.index {
                Some(index) => index == self.index,
                None => name.part == self.backend || self.name.to_lowercase().contains(name.part),
            }
    }
}

impl<'a> Name<'a> {
    fn of(name: &'a str) -> Self {
        match name.split_once(':') {
            Some((backend, part)) if INTERFACES.contains(&backend) => {
                let is_index = part.len() <= LONGEST_INDEX && part.bytes().all(|byte| byte.is_ascii_digit());
                Name { backend: Some(backend), index: part.parse().ok().filter(|_| is_index), part }
            }
            _ => Name { backend: None, index: None, part: name },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_adapters_apart() {
        let adapter = |backend, index, name: &str| Adapter {
            name: name.into(),
            backend,
            index,
            kind: AdapterKind::Discrete,
            driver: "driver".into(),
            found: None,
        };
        let all = [
            adapter("vulkan", 0, "GeForce RTX 4090"),
            adapter("vulkan", 1, "GeForce RTX 4090"),
            adapter("vulkan", 2, "Radeon 1"),
            adapter("gl", 0, "Vulkan: the game"),
        ];
        let found = |name: &str| -> Vec<usize> { (0..all.len()).filter(|&i| all[i].matches(name)).collect() };
        assert_eq!(found("vulkan:1"), [1]);
        assert_eq!(found("vulkan:01"), [1]);
        assert_eq!(found("Vulkan:4090"), [0, 1]);
        assert_eq!(found("vulkan:radeon 1"), [2]);
        assert_eq!(found("4090"), [0, 1]);
        assert_eq!(found("vulkan"), [0, 1, 2, 3]);
        assert_eq!(found("gl:0"), [3]);
        assert!(found("vulkan: the").is_empty() && found("vulkan:9").is_empty());
        assert_eq!(found("1"), [2]);
    }
}
