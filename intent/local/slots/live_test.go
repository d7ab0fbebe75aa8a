package slots_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/intent/local/slots"
)

// tool makes the JSON of a capability that reads. A parameter is written as "name!
// type description", with "!" where it is needed and [] behind the type of a list.
func tool(name, description string, params ...string) string {
	var properties, required []string
	for _, p := range params {
		fields := strings.SplitN(p, " ", 3)
		key, needed := strings.CutSuffix(fields[0], "!")
		if needed {
			required = append(required, fmt.Sprintf("%q", key))
		}
		kind, list := strings.CutSuffix(fields[1], "[]")
		schema := fmt.Sprintf(`"type":%q`, kind)
		if list {
			schema = fmt.Sprintf(`"type":"array","items":{"type":%q}`, kind)
		}
		description := ""
		if len(fields) > 2 {
			description = fields[2]
		}
		properties = append(properties, fmt.Sprintf(`%q:{%s,"description":%q}`, key, schema, description))
	}
	return fmt.Sprintf(`{"name":%q,"description":%q,"schema":{"type":"object","properties":{%s},"required":[%s]},"metadata":{"side_effect_class":"read"}}`,
		name, description, strings.Join(properties, ","), strings.Join(required, ","))
}

// People type short sentences without capitals, with codes, paths and numbers of
// all kinds in them.
func TestWhatPeopleType(t *testing.T) {
	t.Parallel()
	tide := tool("tide_times", "Times of high and low tide.", "harbour! string Name of the harbour.", "days integer For how many days.")
	parcel := tool("parcel_status", "Where a parcel is.", "parcel_id! string The number of the parcel.")
	file := tool("read_file", "Reads a file.", "path! string Path of the file.", "lines integer How many lines.")
	fetch := tool("fetch_page", "Fetches a page.", "url! string Address of the page.", "timeout integer Seconds to wait.")
	point := tool("elevation", "Elevation of a point.", "latitude! number Latitude of the point.", "longitude! number Longitude of the point.")
	release := tool("release_notes", "Release notes of a package.", "package! string Name of the package.", "version! string Version of the package.")
	convert := tool("convert_file", "Converts a file to another format.", "file_name! string The file.", "format! string Target format, e.g. pdf, png, txt.")
	translate := tool("translate", "Translates a text into a language.", "text! string What is translated.", "target_language! string Language to translate into.")
	exchange := tool("exchange", "Converts money from one currency to another.", "amount! number How much money.", "from_currency! string Code of the currency to convert from.", "to_currency! string Code of the currency to convert to.")
	ride := tool("book_taxi", "Books a taxi.", "pickup! string Where the ride begins.", "destination! string Where it ends.", "seats integer Number of seats.")
	paint := tool("set_color", "Sets the color of a lamp.", "lamp! string The lamp.", "color! string Color as hex, e.g. #ffaa00.")
	host := tool("scan_port", "Tells whether a port is open.", "host! string Name or IP address.", "port! integer The port.")
	groceries := tool("add_groceries", "Adds things to the shopping list.", "items! string[] What to buy.")
	timer := tool("set_timer", "Sets a timer.", "minutes! integer Minutes.", "label string What it is for.")
	tip := tool("split_bill", "Splits a bill.", "total! number Sum of the bill.", "people! integer Number of people.", "tip number Tip in percent.")
	song := tool("play_music", "Plays music.", "artist! string The artist.", "volume integer Volume in percent.")
	docs := tool("find_docs", "Finds the documentation of a programming language.", "language! string The programming language.", "topic string What it is about.")
	flight := tool("find_ferry", "Finds ferries.", "origin! string Harbour of departure.", "destination! string Harbour of arrival.", "date! string Day in the format YYYY-MM-DD.")
	call := tool("call_number", "Calls a telephone number.", "phone_number! string The number.")
	mail := tool("find_mail", "Finds mail.", "sender! string Address of the sender.", "unread boolean Only unread mail.")
	mixer := tool("mix_drink", "How a drink is mixed.", "drink! string Name of the drink.", "alcohol_free boolean Without alcohol.")
	stretch := tool("time_between", "Time between two clock times.", "start_time! string When it begins.", "end_time! string When it ends.")
	cases := []struct{ capability, say, want string }{
		{tide, "tides in portsmouth", `{"harbour":"portsmouth"}`},
		{tide, "tide times whitby pls", `{"harbour":"whitby"}`},
		{tide, "when is high tide at st malo", `{"harbour":"st malo"}`},
		{tide, "tide times for Brest next 3 days", `{"days":3,"harbour":"Brest"}`},
		{tide, "high tide in são sebastião", `{"harbour":"são sebastião"}`},
		{tide, "hi, tide times for Hoek van Holland thanks", `{"harbour":"Hoek van Holland"}`},
		{parcel, "where is parcel 88123-KX", `{"parcel_id":"88123-KX"}`},
		{parcel, "status of 1Z-999-AA1", `{"parcel_id":"1Z-999-AA1"}`},
		{parcel, "track parcel id 7f3a9c02", `{"parcel_id":"7f3a9c02"}`},
		{parcel, "parcel_id=ZX81", `{"parcel_id":"ZX81"}`},
		{parcel, "where is my parcel RR123456785PT?", `{"parcel_id":"RR123456785PT"}`},
		{file, "show me /var/log/harbour/today.log", `{"path":"/var/log/harbour/today.log"}`},
		{file, "read ~/notes/todo.md", `{"path":"~/notes/todo.md"}`},
		{file, "open ./src/main.rs", `{"path":"./src/main.rs"}`},
		{file, `read C:\Temp\old.txt`, `{"path":"C:\\Temp\\old.txt"}`},
		{file, "read the first 20 lines of /etc/hosts", `{"lines":20,"path":"/etc/hosts"}`},
		{fetch, "fetch https://tides.example.org/v1/ports?id=7&lang=pt", `{"url":"https://tides.example.org/v1/ports?id=7\u0026lang=pt"}`},
		{fetch, "get http://localhost:8080/health with a timeout of 5 seconds", `{"timeout":5,"url":"http://localhost:8080/health"}`},
		{fetch, "fetch www.example.org/boats", `{"url":"www.example.org/boats"}`},
		{point, "elevation at 46.55, 7.98", `{"latitude":46.55,"longitude":7.98}`},
		{point, "how high is -33.9249 18.4241", `{"latitude":-33.9249,"longitude":18.4241}`},
		{point, "elevation of longitude 8.1 and latitude 47.2", `{"latitude":47.2,"longitude":8.1}`},
		{point, "elevation at (38.7223, -9.1393)", `{"latitude":38.7223,"longitude":-9.1393}`},
		{point, "elevation at 38.72° N, 9.13° W", `{"latitude":38.72,"longitude":-9.13}`},
		{release, "release notes of kestrel 2.14.3", `{"package":"kestrel","version":"2.14.3"}`},
		{release, "what changed in heron v1.9", `{"package":"heron","version":"v1.9"}`},
		{release, "release notes for version 3.0.0-rc1 of osprey", `{"package":"osprey","version":"3.0.0-rc1"}`},
		{convert, "convert logbook.docx to pdf", `{"file_name":"logbook.docx","format":"pdf"}`},
		{convert, "turn chart_2024-final.png into txt", `{"file_name":"chart_2024-final.png","format":"txt"}`},
		{translate, "translate good morning to portuguese", `{"target_language":"portuguese","text":"good morning"}`},
		{translate, "translate 'where is the harbour' into Dutch", `{"target_language":"Dutch","text":"where is the harbour"}`},
		{exchange, "100 usd to eur", `{"amount":100,"from_currency":"USD","to_currency":"EUR"}`},
		{exchange, "convert 250 GBP to JPY", `{"amount":250,"from_currency":"GBP","to_currency":"JPY"}`},
		{exchange, "how much is 19.99 EUR in CHF", `{"amount":19.99,"from_currency":"EUR","to_currency":"CHF"}`},
		{ride, "taxi from the fish market to pier 4", `{"destination":"pier 4","pickup":"fish market"}`},
		{ride, "taxi from Lindenplatz 5 to Hafenstraße 12", `{"destination":"Hafenstraße 12","pickup":"Lindenplatz 5"}`},
		{ride, "book a taxi with 3 seats from central station to the airport", `{"destination":"airport","pickup":"central station","seats":3}`},
		{paint, "set lamp hallway to #ff8800", `{"color":"#ff8800","lamp":"hallway"}`},
		{host, "is port 8443 open on 10.0.0.7", `{"host":"10.0.0.7","port":8443}`},
		{host, "is port 22 open on gate-2.example.org?", `{"host":"gate-2.example.org","port":22}`},
		{groceries, "add milk, eggs and bread", `{"items":["milk","eggs","bread"]}`},
		{groceries, "buy olive oil, rice and salt", `{"items":["olive oil","rice","salt"]}`},
		{groceries, "buy [flour, sugar, yeast]", `{"items":["flour","sugar","yeast"]}`},
		{timer, "timer 10 min", `{"minutes":10}`},
		{timer, "set a timer for twenty five minutes", `{"minutes":25}`},
		{timer, "15m timer", `{"minutes":15}`},
		{tip, "split 84.50 between 4 people", `{"people":4,"total":84.5}`},
		{tip, "split a bill of $120 by 6 with 15% tip", `{"people":6,"tip":15,"total":120}`},
		{song, "play nina simone", `{"artist":"nina simone"}`},
		{song, "play something by the kestrels", `{"artist":"kestrels"}`},
		{song, "play AC/DC at volume 40", `{"artist":"AC/DC","volume":40}`},
		{docs, "find docs for C++", `{"language":"C++"}`},
		{docs, "docs of C#", `{"language":"C#"}`},
		{docs, "docs for python pls", `{"language":"python"}`},
		{flight, "ferry from calais to dover 2026-12-03", `{"date":"2026-12-03","destination":"dover","origin":"calais"}`},
		{flight, "ferries from Kiel to Oslo tomorrow", `{"date":"2026-11-22","destination":"Oslo","origin":"Kiel"}`},
		{flight, "ferry to bergen from hirtshals on dec 24", `{"date":"2026-12-24","destination":"bergen","origin":"hirtshals"}`},
		{call, "call +351 912 345 678", `{"phone_number":"+351 912 345 678"}`},
		{call, "call 030-2345678", `{"phone_number":"030-2345678"}`},
		{mail, "unread mail from ana@example.com", `{"sender":"ana@example.com","unread":true}`},
		{mixer, "alcohol free recipe for a bellini", `{"alcohol_free":true,"drink":"bellini"}`},
		{stretch, "how long is it from 9:15 to 17:40", `{"end_time":"17:40","start_time":"9:15"}`},
		{stretch, "time between 7pm and 11pm", `{"end_time":"11pm","start_time":"7pm"}`},
	}
	for _, c := range cases {
		t.Run(c.say, func(t *testing.T) {
			t.Parallel()
			tools := slots.NewTools()
			set := slots.Compile(tools, capability(t, c.capability), "", nil)
			f := set.Answer(tools.Read(c.say, saturday), nil)
			got, err := json.Marshal(f.Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s%v", c.say, diff, f.Evidence)
			}
		})
	}
}
