//! Text in columns.

/// `rows` with their cells under each other, one line each.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_under_each_other_and_no_line_ends_in_blanks() {
        let rows = [["a", "b"], ["long", "é"], ["x", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "a     b\nlong  é\nx\n");
    }
}
