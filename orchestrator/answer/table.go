package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// Rework returns the table sorted, cut or filtered, or a text if the result is no table.
func Rework(table contracts.Block, o chat.TableOrder) (*contracts.Block, string) {
	rows := slices.Clone(table.Rows)
	switch {
	case o.Count:
		return nil, "The last table has " + counted(len(rows)) + "."
	case o.Place > len(rows) || len(rows) == 0:
		return nil, "The last table has only " + counted(len(rows)) + "."
	case o.Place < 0:
		rows = rows[len(rows)-1:]
	case o.Place > 0:
		rows = rows[o.Place-1 : o.Place]
	case o.First > 0:
		rows = rows[:min(o.First, len(rows))]
	case o.Filter != "":
		rows = having(rows, o.Filter)
		if len(rows) == 0 {
			return nil, fmt.Sprintf("No row of the last table has %q.", contracts.CleanSummary(o.Filter))
		}
	default:
		at := column(table, o.Sort)
		if at < 0 {
			return nil, fmt.Sprintf("The last table has no one column %q. It has: %s.", contracts.CleanSummary(o.Sort), strings.Join(titles(table), ", "))
		}
		slices.SortStableFunc(rows, func(a, b []any) int {
			if o.Down {
				a, b = b, a
			}
			return compare(cell(a, at), cell(b, at))
		})
	}
	table.Rows = rows
	return &table, ""
}

func counted(rows int) string {
	if rows == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", rows)
}

func titles(table contracts.Block) []string {
	out := make([]string, len(table.Columns))
	for n, c := range table.Columns {
		out[n] = c.Title
	}
	return out
}

// column returns the index of the only column whose title is or contains a word, or -1.
func column(table contracts.Block, word string) int {
	word = strings.ToLower(word)
	found := -1
	for n, c := range table.Columns {
		title := strings.ToLower(c.Title)
		switch {
		case title == word:
			return n
		case !strings.Contains(title, word):
		case found >= 0:
			return -1
		default:
			found = n
		}
	}
	return found
}

func cell(row []any, at int) any {
	if at >= len(row) {
		return nil
	}
	return row[at]
}

// compare orders numbers as numbers and everything else as text; empty cells come first.
func compare(a, b any) int {
	x, isX := a.(float64)
	y, isY := b.(float64)
	if isX && isY {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(strings.ToLower(chat.FormatValue(a)), strings.ToLower(chat.FormatValue(b)))
}

// having returns the rows with a cell that equals the text, or else those with a cell that contains
// it as whole words.
func having(rows [][]any, text string) [][]any {
	of := func(fits func(cell string) bool) [][]any {
		return slices.DeleteFunc(slices.Clone(rows), func(row []any) bool {
			return !slices.ContainsFunc(row, func(cell any) bool { return fits(chat.FormatValue(cell)) })
		})
	}
	if whole := of(func(cell string) bool { return strings.EqualFold(cell, text) }); len(whole) > 0 {
		return whole
	}
	words := strings.ToLower(strings.Join(strings.Fields(text), " "))
	return of(func(cell string) bool {
		return words != "" && strings.Contains(" "+strings.ToLower(cell)+" ", " "+words+" ")
	})
}
