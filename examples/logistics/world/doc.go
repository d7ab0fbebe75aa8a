// Package world is the data set of the logistics example: carriers with their trucks, drivers,
// reviews and accounts; candidates, lanes and campaigns; and the platform with its calls, incidents
// and tickets. All of it is generated from a seed. Aggregates such as turnover, rates and rankings
// are computed from single events, so that two answers never contradict each other. Changes by
// users are in a Book, which is lost when the process ends.
package world

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// World is the data set. It is immutable after New, so it is safe for concurrent use.
type World struct {
	// Today is the day for which the data set was generated, at midnight UTC.
	Today      time.Time
	Carriers   []Carrier
	Drivers    []Driver
	Departures []Departure
	Trucks     []Truck
	Shippers   []Shipper
	Loads      []Load
	Messages   []Message
	Lanes      []Lane
	Stops      []Stop
	Months     []Month
	Campaigns  []Campaign
	Candidates []Candidate
	Platform   Platform
}

// New returns the data set. It depends only on the seed and the day.
func New(seed uint64, today time.Time) *World {
	w := &World{Today: today.UTC().Truncate(24 * time.Hour)}
	w.market(stream(seed, "market"))
	w.carriers(stream(seed, "carriers"))
	w.people(stream(seed, "people"))
	w.fleet(stream(seed, "fleet"))
	w.recruiting(stream(seed, "recruiting"))
	w.platform(stream(seed, "platform"))
	return w
}

// stream returns a random generator per part of the world, so that a change to one part does not
// change the others.
func stream(seed uint64, part string) dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(part))                        // a hash never fails
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))} //nolint:gosec // a world to play in, no secret
}

// dice generates random values.
type dice struct{ *rand.Rand }

// between returns an integer from low to high, inclusive.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// about returns a number within spread of middle; numbers near middle are more likely.
func (d dice) about(middle, spread float64) float64 {
	return middle + spread*(d.Float64()+d.Float64()-1)
}

// happens returns true with a probability.
func (d dice) happens(probability float64) bool { return d.Float64() < probability }

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

// Day returns the date a number of days from today.
func (w *World) Day(ahead int) string { return w.Today.AddDate(0, 0, ahead).Format(time.DateOnly) }

// DaysUntil returns the number of days until a date, or 0 if it is invalid.
func (w *World) DaysUntil(day string) int {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return 0
	}
	return int(at.Sub(w.Today).Hours() / 24)
}

// Round1 rounds to one decimal place.
func Round1(x float64) float64 { return math.Round(x*10) / 10 }

// Round2 rounds to two decimal places.
func Round2(x float64) float64 { return math.Round(x*100) / 100 }

// Share returns part of whole in percent, or 0 if whole is 0.
func Share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return Round1(100 * float64(part) / float64(whole))
}

// Quantile returns the q-quantile of values, or 0 if there are none.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (sorted[high]-sorted[low])*(at-float64(low))
}

// Mean returns the average of values, or 0 if there are none.
func Mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Fold normalizes a name for comparison: it ignores case and surrounding spaces.
func Fold(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
