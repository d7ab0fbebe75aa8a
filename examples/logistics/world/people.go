package world

import "fmt"

// Driver is a driver of a carrier.
type Driver struct {
	ID           string     `json:"driver"`
	Name         string     `json:"name"`
	DOT          string     `json:"dot"`
	Region       string     `json:"region"`
	Years        int        `json:"years"`
	CentsPerMile int        `json:"cents_per_mile"`
	Documents    []Document `json:"documents"`
	// HoursDriven are the hours of today and of the seven days before, newest first.
	HoursDriven [8]float64 `json:"hours_driven"`
	// WeekMiles are the miles of the last weeks, newest first.
	WeekMiles [6]int `json:"week_miles"`
	Detention int    `json:"detention_hours"`
	OnTime    int    `json:"on_time"`
	Late      int    `json:"late"`
	// Mentor means that the driver helps other drivers.
	Mentor bool `json:"mentor"`
	// JoinedDaysAgo is how long ago the driver joined the carrier.
	JoinedDaysAgo int `json:"joined_days_ago"`
}

// Departure is a driver who left in the last year.
type Departure struct {
	DOT   string `json:"dot"`
	Day   string `json:"day"`
	Cause string `json:"cause"`
}

// Message is a message between a carrier and its drivers.
type Message struct {
	DOT    string `json:"dot"`
	Driver string `json:"driver"`
	Day    string `json:"day"`
	Topic  string `json:"topic"`
	Text   string `json:"text"`
	Open   bool   `json:"open"`
}

// CDL limits, in hours.
const (
	DailyLimit = 11.0
	CycleLimit = 70.0
)

func firstNames() []string {
	return []string{
		"Ana", "Ben", "Carla", "Dan", "Elena", "Frank", "Grace", "Hank", "Irene", "Jack", "Kim", "Leo", "Maria", "Nate", "Olga", "Pete",
		"Rosa", "Sam", "Tina", "Victor", "Wendy", "Yusuf",
	}
}

func lastNames() []string {
	return []string{
		"Abbott", "Brooks", "Castillo", "Dawson", "Ellison", "Fuentes", "Graves", "Holt", "Ibarra", "Jennings", "Kessler", "Lund", "Mercer", "Nolan",
		"Ortega", "Pruitt", "Quinn", "Rhodes", "Sandoval", "Tate", "Underhill", "Vance", "Whitaker", "Yates",
	}
}

// Causes returns the reasons why drivers leave.
func Causes() []string {
	return []string{"pay", "home time", "dispatch", "equipment", "health", "retired"}
}

func (w *World) people(d dice) {
	for i := range w.Carriers {
		c := &w.Carriers[i]
		size := d.between(14, 48)
		for range size {
			w.Drivers = append(w.Drivers, w.driver(d, c, len(w.Drivers)+1))
		}
		// Lower pay and less time at home make more drivers leave.
		leaves := max(0.12, min(1.1, 1.9-float64(c.CentsPerMile)/70-float64(c.HomeDays)/18))
		for range size {
			if d.happens(leaves) {
				w.Departures = append(w.Departures, Departure{c.DOT, w.Day(-d.between(1, 364)), pick(d, Causes())})
			}
		}
		w.talk(d, c)
	}
}

func (w *World) driver(d dice, c *Carrier, n int) Driver {
	out := Driver{
		ID: fmt.Sprintf("dr-%03d", n), Name: pick(d, firstNames()) + " " + pick(d, lastNames()), DOT: c.DOT, Region: c.Region,
		Years: d.between(0, 28), Detention: d.between(0, 9), OnTime: d.between(60, 240), Late: d.between(0, 20),
		Mentor: d.happens(0.12), JoinedDaysAgo: d.between(5, 3_000),
	}
	out.CentsPerMile = c.CentsPerMile + min(out.Years, 10)
	for _, name := range []string{"commercial licence", "medical card", "drug test"} {
		out.Documents = append(out.Documents, Document{name, w.Day(d.between(-3, 400))})
	}
	for day := range out.HoursDriven {
		out.HoursDriven[day] = Round1(max(0, min(DailyLimit, d.about(7.4, 3.4))))
	}
	for week := range out.WeekMiles {
		out.WeekMiles[week] = int(d.about(float64(c.WeeklyMiles), 420))
	}
	return out
}

func (w *World) talk(d dice, c *Carrier) {
	said := map[string]string{
		"home time": "When do I get home this month?", "pay": "My last settlement misses two detention hours.",
		"equipment": "The APU of my tractor is out again.", "dispatch": "The appointment was moved and nobody told me.",
	}
	drivers := w.DriversOf(c.DOT)
	for range d.between(3, 9) {
		topic := pick(d, []string{"home time", "pay", "equipment", "dispatch"})
		w.Messages = append(w.Messages, Message{c.DOT, pick(d, drivers).ID, w.Day(-d.between(0, 21)), topic, said[topic], d.happens(0.45)})
	}
}

// DriversOf returns the drivers of a carrier, or all for "".
func (w *World) DriversOf(dot string) []*Driver {
	var out []*Driver
	for i := range w.Drivers {
		if dr := &w.Drivers[i]; dot == "" || dr.DOT == dot {
			out = append(out, dr)
		}
	}
	return out
}

// FindDriver returns a driver by id.
func (w *World) FindDriver(id string) (*Driver, bool) {
	for i := range w.Drivers {
		if w.Drivers[i].ID == id {
			return &w.Drivers[i], true
		}
	}
	return nil, false
}

// HoursLeft returns the hours that the driver may still drive, today and in the cycle.
func (dr *Driver) HoursLeft() (today, cycle float64) {
	used := 0.0
	for _, h := range dr.HoursDriven {
		used += h
	}
	cycle = max(0, Round1(CycleLimit-used))
	return min(cycle, Round1(DailyLimit-dr.HoursDriven[0])), cycle
}
