// Products of matrices. An invocation has some rows and one or two vectors of columns, and adds up their products in sequence:
// those of a chunk, and the sums of chunks. Invocations of a workgroup share loads in its memory, or each loads its own factors.

#if shares
// Factors of {depth} products for all rows, and for all columns of the tile. Where neighbours store along the products, one
// vector more lies between them, so that they meet in no bank.
var<workgroup> shared0: array<array<{vector}, {pitch0}>, {depth}>;

var<workgroup> shared1: array<array<{vector}, {pitch1}>, {depth}>;

#endif
@compute @workgroup_size({group})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = id.y * p.pitch + id.x;
    if (tile >= p.count) { return; }
    {places}
    let first_row = down * {tile_rows}u;
    let first_x = across * {tile_x}u;
    let row0 = first_row + local / {x}u * {rows}u + 0u;
    {more_rows}
    {own_x}
    // Once, as drivers load it again in each turn otherwise.
    {fence}
#if shares
    {loading}
#if early
    {loaded}
#endif
#endif
#if is_chunk
    {sums}
    {
        let first = 0u;
        let end = p.row;
#else
    {totals}
    for (var first = 0u; first < p.row; first += {chunk}u) {
        {sums}
        let end = min(first + {chunk}u, p.row);
#endif
#if shares
        // Past the end of the products, factors are zeros.
        for (var at = first; at < end; at += {depth}u) {
            {stored}
            workgroupBarrier();
#if early
            // The next factors are on their way while these are multiplied.
            let next = at + {depth}u;
            if (next < p.row) {
                {loads}
            }
#endif
#if in_turns
            for (var k = 0u; k < {depth}u; k += {turns}u) {
                {products}
            }
#else
            {products}
#endif
            workgroupBarrier();
        }
#else
        // Missing rows and columns repeat the last.
        for (var k = first; k < end; k += 1u) {
            {products}
        }
#endif
#if !is_chunk
        {added}
#endif
    }
    // A row in each iteration, so that drivers compile the steps and the stores of one row.
    let own_rows = min({rows}u, p.rows - min(row0, p.rows));
    for (var row = 0u; row < own_rows; row += 1u) {
        {values}
#if several_rows
        switch row {
            {cases}
            default: {}
        }
#endif
        {stores}
    }
}
