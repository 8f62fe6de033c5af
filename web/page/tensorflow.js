// The layouts by TensorFlow.js on WebGPU, over the same numbers.

const SCRIPTS = ['tf-core.min.js', 'tf-backend-cpu.min.js', 'tf-backend-webgpu.min.js'];

function load(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `vendor/${name}`;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`vendor/${name} does not load`));
    document.head.append(script);
  });
}

/** The numbers of src/speed.rs. */
function numbers(count) {
  const all = new Float32Array(count);
  for (let i = 0; i < count; i++) all[i] = Math.fround(((i % 1021) + 1) / 1024);
  return all;
}

export class Tensorflow {
  async begin() {
    if (this.tf) return;
    for (const name of SCRIPTS) await load(name);
    const { tf } = globalThis;
    // TensorFlow.js would compute small work on the CPU. Here it stays on the device.
    tf.env().set('WEBGPU_CPU_FORWARD', false);
    if (!await tf.setBackend('webgpu')) throw new Error('TensorFlow.js has no WebGPU here');
    await tf.ready();
    this.tf = tf;
  }

  bench(name, n) {
    const { tf } = this;
    const tensor = (...shape) => tf.tensor(numbers(shape.reduce((a, b) => a * b, 1)), shape, 'float32');
    const side = n / 32;
    const square = () => tensor(n, n);
    // The operands and the expression.
    const layouts = {
      same: () => [[square(), square()], (x, y) => tf.add(x, y)],
      row: () => [[square(), tensor(n)], (x, y) => tf.add(x, y)],
      column: () => [[square(), tensor(n, 1)], (x, y) => tf.add(x, y)],
      scalar: () => [[square(), tensor()], (x, y) => tf.add(x, y)],
      outer: () => [[tensor(n, 1), tensor(n)], (x, y) => tf.add(x, y)],
      nchw: () => [[tensor(16, 64, side, side), tensor(64, 1, 1)], (x, y) => tf.add(x, y)],
      middle: () => [[tensor(n / 16, 16, n), tensor(n / 16, 1, n)], (x, y) => tf.add(x, y)],
      odd: () => [[tensor(n - 1, n + 1), tensor(n + 1)], (x, y) => tf.add(x, y)],
      shifted: () => [[tensor(n * n + 1), tensor(n * n)], (x, y) => tf.add(tf.slice(x, [1], [n * n]), y)],
      reversed: () => [[tensor(n * n), tensor(n * n)], (x, y) => tf.add(tf.reverse(x, 0), y)],
      transposed: () => [[square(), square()], (x, y) => tf.add(x, tf.transpose(y))],
      'nhwc to nchw': () => [[tensor(16, side, side, 64)], (x) => tf.mul(tf.transpose(x, [0, 3, 1, 2]), 2)],
      exp: () => [[square()], (x) => tf.exp(x)],
      pow: () => [[square(), square()], (x, y) => tf.pow(x, y)],
      compare: () => [[square(), square()], (x, y) => tf.less(x, y)],
      select: () => [[square(), square(), square()], (c, x, y) => tf.where(tf.greater(c, 0.5), x, y)],
      'chain of 5': () => [[square(), tensor(n), tensor(n, 1), tensor(), tensor(1)],
        (a, row, column, b, s) => tf.relu(tf.add(tf.mul(tf.div(tf.sub(a, row), column), b), s))],
      'chain of 20': () => [[square(), square()], (a, b) => {
        let x = a;
        for (let k = 0; k < 10; k++) x = tf.abs(tf.add(tf.mul(x, b), k));
        return x;
      }],
    };
    const [operands, compute] = layouts[name.replace(', fast', '')]();
    const once = () => tf.tidy(() => compute(...operands));
    return {
      run(times) {
        for (let i = 0; i < times; i++) once().dispose();
      },
      /** Waits for the queue, as this crate's bench does. */
      async done() {
        const backend = tf.backend();
        backend.ensureCommandEncoderReady();
        backend.endComputePassEncoder();
        backend.submitQueue();
        await backend.queue.onSubmittedWorkDone();
      },
      async values() {
        const result = once();
        const found = await result.data();
        result.dispose();
        return Float32Array.from(found);
      },
      free: () => tf.dispose(operands),
    };
  }
}
