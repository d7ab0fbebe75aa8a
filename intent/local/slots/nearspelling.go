package slots

// NearSpelling reports whether two words differ by at most one letter or one transposition.
func NearSpelling(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) {
		return true
	}
	return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// SameInflection reports whether two words are probably inflections of one word: they share at
// least five initial letters and two thirds of the longer one.
func SameInflection(a, b string) bool {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return same >= 5 && 3*same >= 2*max(len(a), len(b))
}
