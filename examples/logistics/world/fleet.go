package world

import "fmt"

// Truck is a tractor of a carrier.
type Truck struct {
	Unit        string `json:"unit"`
	DOT         string `json:"dot"`
	Year        int    `json:"year"`
	Miles       int    `json:"miles"`
	State       string `json:"state"`
	ServiceIn   int    `json:"service_in_miles"`
	IdlePercent int    `json:"idle_percent"`
}

// Shipper is a customer of a carrier.
type Shipper struct {
	Name       string `json:"name"`
	DOT        string `json:"dot"`
	LoadsMonth int    `json:"loads_month"`
	OnTime     int    `json:"on_time_percent"`
	DaysToPay  int    `json:"days_to_pay"`
	Revenue    int    `json:"revenue_month"`
}

// Load is a load that is assigned to a driver.
type Load struct {
	ID      string `json:"load"`
	Driver  string `json:"driver"`
	Lane    int    `json:"-"`
	InHours int    `json:"pickup_in_hours"`
	Weight  int    `json:"weight_lb"`
}

func (w *World) fleet(d dice) {
	year := w.Today.Year()
	for i := range w.Carriers {
		c := &w.Carriers[i]
		drivers := w.DriversOf(c.DOT)
		for n := range len(drivers) + d.IntN(4) {
			w.Trucks = append(w.Trucks, Truck{
				Unit: fmt.Sprintf("%s-%02d", c.DOT[len(c.DOT)-3:], n+1), DOT: c.DOT, Year: year - d.IntN(11), Miles: d.between(20, 780) * 1000,
				State:     pick(d, []string{"on the road", "on the road", "on the road", "on the road", "waiting", "in the shop"}),
				ServiceIn: d.between(-1500, 24_000), IdlePercent: d.between(12, 45),
			})
		}
		for range d.between(4, 8) {
			name := pick(d, []string{"Acme", "Bayside", "Crown", "Dunmore", "Evergreen", "Fairfield", "Goldleaf", "Highland"}) + " " +
				pick(d, []string{"Foods", "Paper", "Steel", "Retail", "Chemicals", "Lumber"})
			loads := d.between(6, 70)
			w.Shippers = append(w.Shippers, Shipper{name, c.DOT, loads, d.between(78, 99), d.between(18, 62), loads * d.between(900, 2600)})
		}
		lanes := w.laneIndexes(c.Region)
		for _, dr := range drivers {
			w.Loads = append(w.Loads, Load{fmt.Sprintf("ld-%04d", len(w.Loads)+1), dr.ID, pick(d, lanes), d.between(1, 30), d.between(18, 44) * 1000})
		}
	}
}

func (w *World) laneIndexes(region string) []int {
	var out []int
	for i, l := range w.Lanes {
		if l.Region == region {
			out = append(out, i)
		}
	}
	return out
}

// TrucksOf returns the trucks of a carrier, or all for "".
func (w *World) TrucksOf(dot string) []Truck {
	var out []Truck
	for _, t := range w.Trucks {
		if dot == "" || t.DOT == dot {
			out = append(out, t)
		}
	}
	return out
}

// ShippersOf returns the customers of a carrier.
func (w *World) ShippersOf(dot string) []Shipper {
	var out []Shipper
	for _, s := range w.Shippers {
		if s.DOT == dot {
			out = append(out, s)
		}
	}
	return out
}

// NextLoad returns the load that is assigned to a driver.
func (w *World) NextLoad(driver string) (Load, bool) {
	for _, l := range w.Loads {
		if l.Driver == driver {
			return l, true
		}
	}
	return Load{}, false
}
