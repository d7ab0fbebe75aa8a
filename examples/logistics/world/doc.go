// Package world is what the logistics example knows: carriers with their trucks,
// drivers, reviews and books, candidates who look for work, lanes, campaigns, and
// the platform that serves them with its calls, incidents and tickets. All of it
// is generated of a seed, and nothing stands in it twice: figures such as
// turnover, rates and rankings are computed of the single events, so that two
// questions about one thing cannot be answered differently. What people write lies beside
// it, in a Book that lives as long as the process.
package world

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// World is the data set. It is never changed after New, so it may be read from
// many goroutines; what people write is kept elsewhere.
type World struct {
	// Today is the day that the data set was made for, at midnight UTC.
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

// New generates the data set: the same for the same seed and day.
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

// stream gives each part of the world dice of its own, so that a change of one
// leaves the others as they are.
func stream(seed uint64, part string) dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(part))                        // a hash takes everything
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))} //nolint:gosec // a world to play in, no secret
}

// dice are what the world is made with.
type dice struct{ *rand.Rand }

// between returns a whole number from low to high, both included.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// about returns a number around the middle, at most spread away, rather near it
// than far.
func (d dice) about(middle, spread float64) float64 {
	return middle + spread*(d.Float64()+d.Float64()-1)
}

// happens is true with a probability.
func (d dice) happens(probability float64) bool { return d.Float64() < probability }

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

// Day returns a day as text, so many days from today.
func (w *World) Day(ahead int) string { return w.Today.AddDate(0, 0, ahead).Format(time.DateOnly) }

// DaysUntil returns how many days ahead a day is; what cannot be read is today.
func (w *World) DaysUntil(day string) int {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return 0
	}
	return int(at.Sub(w.Today).Hours() / 24)
}

// Round1 and Round2 round to so many digits.
func Round1(x float64) float64 { return math.Round(x*10) / 10 }

// Round2 rounds to cents.
func Round2(x float64) float64 { return math.Round(x*100) / 100 }

// Share returns part of whole in percent; of nothing it is 0.
func Share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return Round1(100 * float64(part) / float64(whole))
}

// Quantile returns the value below which the share q of the values lies; of none
// it is 0.
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

// Mean is the average; of nothing it is 0.
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

// Fold makes names comparable: neither case nor blanks around them count.
func Fold(name string) string { return strings.ToLower(strings.TrimSpace(name)) }
