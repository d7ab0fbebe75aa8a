package values_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

func stem(word string) string { return tokenize.Stems(word)[0] }

// A number of one unit is turned into another of the same kind, in each language, and into
// nothing else.
func TestTurned(t *testing.T) {
	t.Parallel()
	for unit, c := range map[string]struct {
		into string
		want float64
	}{
		"centimetres": {"metre", 0.3}, "Zentimeter": {"meter", 0.3}, "centímetros": {"metro", 0.3}, "centimètres": {"mètre", 0.3}, "centimetri": {"metro", 0.3},
		"quilômetros": {"meter", 30_000}, "chilometri": {"meter", 30_000}, "kilos": {"gram", 30_000}, "Milliliter": {"litros", 0.03}, "metros": {"meter", 30},
		"inches": {"meter", 0}, "grams": {"meter", 0}, "hours": {"meter", 0}, "meter": {"meter", 0},
	} {
		got, turned := values.Convert(30, stem(unit), stem(c.into))
		if turned != (c.want != 0) || turned && got != c.want {
			t.Errorf("30 %s are %v %s (%v), want %v", unit, got, c.into, turned, c.want)
		}
	}
}

func TestUnit(t *testing.T) {
	t.Parallel()
	for description, want := range map[string]string{
		"Thickness in centimetres.": "centimetr", "Länge in Zentimetern": "zentimetern", "Peso en gramos": "gramo",
		"mg per kg": "", "metres or kilometres": "", "How many there are.": "", "Dose in milligrams per kilogram": "",
	} {
		stems := map[string]bool{}
		for _, s := range tokenize.Stems(description) {
			stems[s] = true
		}
		if got := values.UnitOf(stems); got != want {
			t.Errorf("%s: got %q, want %q", description, got, want)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"height of the wall": "length", "load weight": "mass", "room temp": "temperature", "largura": "length", "peso": "mass", "Geschwindigkeit": "speed", "vitesse": "speed",
		"altezza": "length", "age": "time", "price": "",
	} {
		if got := values.DimensionNamed(tokenize.Stems(name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
