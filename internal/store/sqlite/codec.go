package sqlite

import (
	"encoding/json"
	"fmt"
)

// list makes a JSON list, for "IN (SELECT value FROM json_each(?))".
func list[T ~string | ~int](items []T) (string, error) {
	raw, err := json.Marshal(items)
	if err != nil {
		return "", fmt.Errorf("encode a list: %w", err)
	}
	return string(raw), nil
}
