// Products of matrices. An invocation has some rows and a vector of columns, and adds up their products in sequence: those of a
// chunk, and the sums of chunks. Invocations of a workgroup share loads in its memory, or each loads its own factors.

#if shares
var<workgroup> shared0: array<{vector}, {size0}>;

var<workgroup> shared1: array<{vector}, {size1}>;

#endif
@compute @workgroup_size({group})
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = id.y * p.pitch + id.x;
    if (tile >= p.count) { return; }
    {places}
    let first_row = down * {tile_rows}u;
    let first_x = across * {x}u;
    let row0 = first_row + local / {x}u * {rows}u + 0u;
    {more_rows}
    let x0 = first_x + local % {x}u + 0u;
    // Once, as drivers load it again in each turn otherwise.
    {fence}
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
        // Factors of some products for all rows and columns of the tile. Past the end of the products they are zeros.
        for (var at = first; at < end; at += {depth}u) {
            {loads}
            workgroupBarrier();
            for (var k = 0u; k < {depth}u; k += {turns}u) {
                {products}
            }
            workgroupBarrier();
        }
#else
        // Missing rows and columns repeat the last.
        for (var k = first; k < end; k += 1u) {
            let b0 = factor1({batch}min(x0, (p.columns - 1u) / 4u), k);
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
        var value0 = {name}0_0;
#if several_rows
        switch row {
            {cases}
            default: {}
        }
#endif
        store({batch}row0 + row, x0, value0);
    }
}
