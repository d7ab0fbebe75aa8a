package sandbox

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// data serves WQL queries and custom reports. Only the integration user may use it.
type data struct{ *books }

func (d *data) queryRoutes(on func(pattern string, h handler)) {
	on("GET /data", func(c *call) (reply, error) { return d.query(c, c.query.Get("query")) })
	on("POST /data", func(c *call) (reply, error) {
		var body struct {
			Query string `json:"query"`
		}
		if err := c.decode(&body); err != nil {
			return reply{}, err
		}
		return d.query(c, body.Query)
	})
}

func (d *data) reportRoutes(on func(pattern string, h handler)) {
	on("GET /{owner}/{report}", d.report)
}

// wql is the supported part of WQL.
var wql = regexp.MustCompile(`(?is)^\s*select\s+(.+?)\s+from\s+(\w+)(?:\s+where\s+(.+?))?(?:\s+order\s+by\s+(\w+)(?:\s+(asc|desc))?)?(?:\s+limit\s+(\d+))?\s*$`)

var wqlTerm = regexp.MustCompile(`(?is)^\s*(\w+)\s*(=|!=)\s*(?:'([^']*)'|"([^"]*)"|(true|false))\s*$`)

// fields returns the fields of a row of the data source allWorkers.
func (d *data) fields(w *worker) map[string]any {
	out := map[string]any{
		"worker": ref{ID: w.id, Descriptor: w.descriptor()}, "workdayID": w.id, "employeeID": w.number, "fullName": w.name, "businessTitle": w.title,
		"email": w.email, "location": siteRef(w.site), "isManager": d.company.isManager(w.id), "supervisoryOrganization": nil, "manager": nil,
	}
	if o := d.company.orgByID[w.orgID]; o != nil {
		out["supervisoryOrganization"] = ref{ID: o.id, Descriptor: o.name}
	}
	if w.managerID != "" {
		out["manager"] = *d.personRef(w.managerID)
	}
	return out
}

func (d *data) query(c *call, text string) (reply, error) {
	if c.subject != systemUser {
		return reply{}, forbidden()
	}
	m := wql.FindStringSubmatch(text)
	if m == nil {
		return reply{}, badRequest("the query is not WQL: %q", text)
	}
	if m[2] != "allWorkers" {
		return reply{}, badRequest("the data source %s does not exist", m[2])
	}
	keep, err := wqlFilter(m[3])
	if err != nil {
		return reply{}, err
	}
	var rows []map[string]any
	for _, w := range d.company.workers {
		if fields := d.fields(w); !w.terminated && keep(fields) {
			rows = append(rows, fields)
		}
	}
	if by := m[4]; by != "" {
		slices.SortStableFunc(rows, func(a, b map[string]any) int {
			order := strings.Compare(wqlText(a[by]), wqlText(b[by]))
			if strings.EqualFold(m[5], "desc") {
				return -order
			}
			return order
		})
	}
	if most, err := strconv.Atoi(m[6]); err == nil {
		rows = rows[:min(len(rows), most)]
	}
	names, err := d.selected(m[1])
	if err != nil {
		return reply{}, err
	}
	return paged(c, rows, func(fields map[string]any) any {
		out := map[string]any{}
		for alias, of := range names {
			out[alias] = fields[of]
		}
		return out
	})
}

// selected parses a list of fields with optional aliases.
func (d *data) selected(list string) (map[string]string, error) {
	known, out := d.fields(d.company.workers[0]), map[string]string{}
	for part := range strings.SplitSeq(list, ",") {
		words := strings.Fields(part)
		alias := ""
		if len(words) == 3 && strings.EqualFold(words[1], "as") {
			alias, words = words[2], words[:1]
		}
		if len(words) != 1 {
			return nil, badRequest("the field %q cannot be read", part)
		}
		if _, is := known[words[0]]; !is {
			return nil, badRequest("the field %s does not exist in allWorkers", words[0])
		}
		if alias == "" {
			alias = words[0]
		}
		out[alias] = words[0]
	}
	return out, nil
}

// wqlFilter parses conditions that are joined by AND.
func wqlFilter(text string) (func(map[string]any) bool, error) {
	type term struct {
		field, value string
		differs      bool
	}
	var terms []term
	for _, part := range regexp.MustCompile(`(?i)\s+and\s+`).Split(text, -1) {
		if part == "" {
			continue
		}
		m := wqlTerm.FindStringSubmatch(part)
		if m == nil {
			return nil, badRequest("the condition %q cannot be read", part)
		}
		terms = append(terms, term{m[1], m[3] + m[4] + strings.ToLower(m[5]), m[2] == "!="})
	}
	return func(fields map[string]any) bool {
		return !slices.ContainsFunc(terms, func(t term) bool { return (wqlText(fields[t.field]) == t.value) == t.differs })
	}, nil
}

// wqlText returns a value as conditions compare it: a reference by its name.
func wqlText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case ref:
		return v.Descriptor
	case map[string]any:
		return fmt.Sprint(v["descriptor"])
	}
	return fmt.Sprint(value)
}

// The reports of the sandbox: the manager and number of members of each organization, and the
// number of people at each site.
const (
	Headcount           = systemUser + "/Headcount"
	HeadcountByLocation = systemUser + "/Headcount_by_Location"
)

func (d *data) report(c *call) (reply, error) {
	name := c.path("owner") + "/" + c.path("report")
	switch {
	case c.subject != systemUser:
		return reply{}, forbidden()
	case name != Headcount && name != HeadcountByLocation:
		return reply{}, notFound()
	case c.query.Get("format") != "json": // the default format of a report is XML
		return reply{http.StatusOK, htmlPage("wd:Report_Data")}, nil
	}
	entries := []map[string]string{}
	if name == HeadcountByLocation {
		for _, at := range sites() {
			people := 0
			for _, w := range d.company.workers {
				if w.site == at && !w.terminated {
					people++
				}
			}
			entries = append(entries, map[string]string{"Location": at.name, "Country": at.country, "Workers": strconv.Itoa(people)})
		}
		return ok(map[string]any{"Report_Entry": entries})
	}
	for _, o := range d.company.orgs {
		people := 0
		for _, w := range d.company.workers {
			if w.orgID == o.id && !w.terminated {
				people++
			}
		}
		if wanted := c.query.Get("Organization"); wanted == "" || wanted == o.name {
			entries = append(entries, map[string]string{"Organization": o.name, "Manager": d.personRef(o.managerID).Descriptor, "Workers": strconv.Itoa(people)})
		}
	}
	return ok(map[string]any{"Report_Entry": entries})
}
