package healthcheck

import "strings"

// values gathers rows for one statement.
type values struct {
	names string // the column names, comma separated
	args  []any
	rows  int
	width int
}

func newValues(columns ...string) *values { return &values{names: strings.Join(columns, ", ")} }

func (v *values) add(row ...any) {
	v.args = append(v.args, row...)
	v.rows, v.width = v.rows+1, len(row)
}

// text gives "(?, ?), (?, ?)".
func (v *values) text() string {
	if v.rows == 0 {
		return ""
	}
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", v.width), ", ") + ")"
	return row + strings.Repeat(", "+row, v.rows-1)
}
