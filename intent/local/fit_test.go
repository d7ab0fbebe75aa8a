package local_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
)

// seen reads requests for what a catalog has and for what it has not.
func seen(t *testing.T, catalog *contracts.Catalog) []local.Observation {
	t.Helper()
	var out []local.Observation
	l := local.NewLocal(1)
	note := func(say, meant string) {
		if o, ok := l.Observe(t.Context(), local.Query{Message: say, Catalog: catalog, AnyRole: true}, meant); ok {
			out = append(out, o)
		}
	}
	for i, d := range catalog.Domains {
		for k, e := range d.Capabilities {
			note("I would like to "+strings.TrimSuffix(e.Capability.Description, ".")+" here", e.Ref())
			note("tell me about the "+word(i*100+k+5000)+" of my "+word(k+7000), "")
		}
	}
	return out
}

func TestAFitTellsWhatIsMeantFromWhatIsNot(t *testing.T) {
	t.Parallel()
	observed := append(seen(t, generated(60, 3)), seen(t, generated(60, 0))...)
	c := local.FitCalibration(observed)
	for _, described := range []bool{false, true} {
		var sum, n [2]float64 // of what is right, and of what is not
		for _, o := range observed {
			k := 1
			if o.Right {
				k = 0
			}
			if o.Described == described {
				sum[k] += c.Confidence(o)
				n[k]++
			}
		}
		if right, wrong := sum[0]/n[0], sum[1]/n[1]; n[0] < 50 || n[1] < 50 || right < 0.6 || wrong > 0.25 {
			t.Errorf("described %v: mean confidence %.2f of %.0f that are right, %.2f of %.0f that are not", described, right, n[0], wrong, n[1])
		}
	}
	flat := c.Flatten(0.5, 0.5)
	for _, o := range observed {
		if sure, less := c.Confidence(o), flat.Confidence(o); sure > 0.5 && less > sure || sure < 0.5 && less < sure {
			t.Errorf("flattened, %.3f became %.3f", sure, less)
		}
	}
	if source := c.Source(); strings.Count(source, "signalLead: ") != 2 {
		t.Errorf("unexpected code:\n%s", source)
	}
}

// Odds that are right as often as they say need no flattening; where a quarter
// is the other way round they do.
func TestSteepnessTellsWhatIsTooSure(t *testing.T) {
	t.Parallel()
	observed := seen(t, generated(60, 3))
	c := local.FitCalibration(observed)
	var fair, wrong []local.Observation
	for i, o := range observed {
		j := c.Judged(o)
		fair = append(fair, j)
		j.Right = j.Right != (i%8 < 2)
		wrong = append(wrong, j)
	}
	if s := local.Steepness(fair); s < 0.9 || s > 1 {
		t.Errorf("steepness %.2f of what was fitted", s)
	}
	if s := local.Steepness(wrong); s > 0.6 {
		t.Errorf("steepness %.2f where a quarter is wrong", s)
	}
	if s := local.Steepness(nil); s != 1 {
		t.Errorf("steepness %.2f of nothing", s)
	}
}

func TestNothingIsLearnedFromExamplesThemselves(t *testing.T) {
	t.Parallel()
	catalog := generated(20, 3)
	e := catalog.Domains[0].Capabilities[2]
	l := local.NewLocal(1)
	for _, say := range []string{e.Capability.Metadata.IntentHints.Examples[0], "", "…"} {
		if _, ok := l.Observe(t.Context(), local.Query{Message: say, Catalog: catalog, AnyRole: true}, e.Ref()); ok {
			t.Errorf("%q was observed", say)
		}
	}
}
