package slots_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/intent/local/slots"
)

// complete reads strong evidence and free words.
func complete(t *testing.T, raw, say string, only ...string) slots.Filled {
	t.Helper()
	tools := slots.NewTools()
	set := slots.Compile(tools, capability(t, raw), "", nil)
	m := tools.Read(say, saturday)
	all := slots.Range{To: len(m.Tokens)}
	return set.Complete(m, all, only, set.Fill(m, all, only))
}

const (
	weather = `{"name":"get_forecast","description":"Forecast for a place.","schema":{"type":"object","properties":{
  "city":{"type":"string"},"month":{"type":"string"}},"required":["city"]},"metadata":{"side_effect_class":"read"}}`
	books = `{"name":"find_books","description":"Finds books in the shop.","schema":{"type":"object","properties":{
  "title":{"type":"string"},"author":{"type":"string"}},"required":["title"]},"metadata":{"side_effect_class":"read"}}`
	pairing = `{"name":"compare_prices","description":"Compares prices of shares.","schema":{"type":"object","properties":{
  "first":{"type":"string"},"second":{"type":"string"}},"required":["first","second"]},"metadata":{"side_effect_class":"read"}}`
	listing = `{"name":"compare_prices","description":"Compares prices of shares.","schema":{"type":"object","properties":{
  "symbols":{"type":"array","items":{"type":"string"},"maxItems":3}},"required":["symbols"]},"metadata":{"side_effect_class":"read"}}`
	flight = `{"name":"find_flights","description":"Finds flights.","schema":{"type":"object","properties":{
  "destination":{"type":"string"},"origin":{"type":"string"},"cabin":{"type":"string","description":"Class of the seat, e.g. economy, business or first."},
  "departure_date":{"type":"string","description":"Day of departure in the format DD/MM/YYYY."}},"required":["destination","origin"]},"metadata":{"side_effect_class":"read"}}`
	museum = `{"name":"opening_hours","description":"Opening hours of a place of interest.","schema":{"type":"object","properties":{
  "venue":{"type":"string","description":"Where to go."}},"required":["venue"]},"metadata":{"side_effect_class":"read"}}`
	dish = `{"name":"find_recipe","description":"Finds a recipe.","schema":{"type":"object","properties":{
  "cuisine":{"type":"string","description":"Style of the kitchen."},"diet":{"type":"string","description":"'vegan', 'vegetarian' or 'kosher'. Default is 'none'."}},"required":["cuisine"]},"metadata":{"side_effect_class":"read"}}`
	lodging = `{"name":"find_room","description":"Finds a room.","schema":{"type":"object","properties":{
  "hotel":{"type":"string"},"city":{"type":"string"}},"required":["hotel","city"]},"metadata":{"side_effect_class":"read"}}`
	parcel = `{"name":"track_parcel","description":"Where a parcel is.","schema":{"type":"object","properties":{
  "parcel_id":{"type":"string"}},"required":["parcel_id"]},"metadata":{"side_effect_class":"read"}}`
	table = `{"name":"find_table","description":"Finds a table.","schema":{"type":"object","properties":{
  "city":{"type":"string"},"time":{"type":"string"}},"required":["city"]},"metadata":{"side_effect_class":"read"}}`
	absence = `{"name":"list_absences","description":"Lists absences.","schema":{"type":"object","properties":{
  "start_date":{"type":"string","format":"date"},"end_date":{"type":"string","format":"date"}},"required":["start_date","end_date"]},"metadata":{"side_effect_class":"read"}}`
	invite = `{"name":"invite","description":"Invites people.","schema":{"type":"object","properties":{
  "person":{"type":"string"},"people":{"type":"array","items":{"type":"string"}}},"oneOf":[{"required":["person"]},{"required":["people"]}]},
 "metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":["invite Clara Sol"]},"parameter_specs":{"person":{"examples":["Clara Sol"]}},
  "decomposition":{"array_params":[{"param_name":"people","single_param_name":"person"}]},"flow":{"pre":[{"type":"resolve","param":"person","search_capability":"find"}]}}}`
	song = `{"name":"play_song","description":"Plays a song.","schema":{"type":"object","properties":{
  "genre":{"type":"string"}},"required":["genre"]},"metadata":{"side_effect_class":"read"}}`
	boat = `{"name":"boat_price","description":"What a boat costs.","schema":{"type":"object","properties":{
  "make":{"type":"string","description":"Material of the boat."}},"required":["make"]},"metadata":{"side_effect_class":"read"}}`
	score = `{"name":"play_score","description":"Plays a score.","schema":{"type":"object","properties":{
  "composer":{"type":"string"}},"required":["composer"]},"metadata":{"side_effect_class":"read"}}`
	warranty = `{"name":"check_warranty","description":"Whether a warranty holds.","schema":{"type":"object","properties":{
  "owner":{"type":"string"},"serial":{"type":"string"}},"required":["owner","serial"]},"metadata":{"side_effect_class":"read"}}`
	shipping = `{"name":"ship","description":"How it is shipped.","schema":{"type":"object","properties":{
  "carrier":{"type":"string"},"receiver":{"type":"string"}},"required":["carrier","receiver"]},"metadata":{"side_effect_class":"read",
  "intent_hints":{"examples":["ship it per Delta for Ida","ship it per Vento for Olga"]},"parameter_specs":{"carrier":{"examples":["Delta","Vento"]},"receiver":{"examples":["Ida","Olga"]}}}}`
	notice = `{"name":"find_notice","description":"Finds a notice.","schema":{"type":"object","properties":{
  "message":{"type":"string"},"title":{"type":"string"}},"required":["message","title"]},"metadata":{"side_effect_class":"read"}}`
	post = `{"name":"post","description":"Tells people.","schema":{"type":"object","properties":{
  "channel":{"type":"string"},"message":{"type":"string"}},"required":["channel","message"]},"metadata":{"side_effect_class":"write_reversible",
  "parameter_specs":{"channel":{"examples":["kitchen"]}}}}`
	meter = `{"name":"read_meter","description":"What a meter shows.","schema":{"type":"object","properties":{
  "gauge":{"type":"string"}},"required":["gauge"]},"metadata":{"side_effect_class":"read"}}`
	courier = `{"name":"send_note","description":"Sends a note.","schema":{"type":"object","properties":{
  "recipient":{"type":"string"},"text":{"type":"string"}},"required":["recipient","text"]},"metadata":{"side_effect_class":"write_reversible"}}`
)

func TestCompleteFromFreeWords(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		capability, say, want string
		missing               []string
	}{
		"a name behind a preposition that announces a place":       {weather, "what will it be like in Lisbon", `{"city":"Lisbon"}`, nil},
		"a name goes on over a particle":                           {weather, "what will it be like in Rio de Janeiro", `{"city":"Rio de Janeiro"}`, nil},
		"a preposition in another language":                        {weather, "como vai ser em São Paulo", `{"city":"São Paulo"}`, nil},
		"a noun with a capital behind an article is no name":       {weather, "wie wird der Sommer in Köln", `{"city":"Köln"}`, nil},
		"a month where a time is asked for":                        {weather, "forecast for Oslo in December", `{"city":"Oslo","month":"December"}`, nil},
		"a place and its country are one place":                    {museum, "opening hours of the zoo in Porto, Portugal", `{"venue":"Porto, Portugal"}`, nil},
		"of in a name":                                             {museum, "when does the Garden of Stones open", `{"venue":"Garden of Stones"}`, nil},
		"nothing that could be a place":                            {weather, "what will it be like", `{}`, []string{"city"}},
		"an author is no title, though only the title is needed":   {books, "do you have anything by Clarice Lispector", `{"author":"Clarice Lispector"}`, []string{"title"}},
		"as many names as are needed, in their order":              {pairing, "compare the price of Norsk and Hafen", `{"first":"Norsk","second":"Hafen"}`, nil},
		"names in German":                                          {pairing, "vergleiche den Kurs von Norsk und Hafen", `{"first":"Norsk","second":"Hafen"}`, nil},
		"one name for two places is not doubled":                   {pairing, "compare the price of Norsk", `{}`, []string{"first", "second"}},
		"a list":                                                   {listing, "compare the prices of Norsk, Hafen and Berg", `{"symbols":["Norsk","Hafen","Berg"]}`, nil},
		"two names beside each other are a list":                   {listing, "compare Norsk with Hafen", `{"symbols":["Norsk","Hafen"]}`, nil},
		"a list that is too long":                                  {listing, "compare the prices of Norsk, Hafen, Berg and Tal", `{}`, []string{"symbols"}},
		"from and to tell two places apart":                        {flight, "flights from Porto to Lyon", `{"destination":"Lyon","origin":"Porto"}`, nil},
		"also in Portuguese":                                       {flight, "voos de Recife para Manaus", `{"destination":"Manaus","origin":"Recife"}`, nil},
		"a value that the description names":                       {flight, "business flights from Porto to Lyon", `{"cabin":"business","destination":"Lyon","origin":"Porto"}`, nil},
		"a date in the form that the description asks for":         {flight, "flights from Porto to Lyon on 7 December 2026", `{"departure_date":"07/12/2026","destination":"Lyon","origin":"Porto"}`, nil},
		"the name of the parameter stands behind":                  {dish, "something of the Peruvian cuisine", `{"cuisine":"Peruvian"}`, nil},
		"a value in quotation marks in a description":              {dish, "a vegan recipe of the Peruvian cuisine", `{"cuisine":"Peruvian","diet":"vegan"}`, nil},
		"a write takes a name that is announced":                   {courier, "send a note to Ana", `{"recipient":"Ana"}`, []string{"text"}},
		"a write does not take what may be something else":         {courier, "send a note to Ana and bake a cake", `{}`, []string{"recipient", "text"}},
		"a quotation that two parameters could take":               {courier, `send "lunch is ready"`, `{}`, []string{"recipient", "text"}},
		"a quotation where the other parameter has its value":      {courier, `recipient: Ana; "are you coming?"`, `{"recipient":"Ana","text":"are you coming?"}`, nil},
		"a comma before the closing mark belongs to the sentence":  {courier, `text "see you," recipient Ana`, `{"recipient":"Ana","text":"see you"}`, nil},
		"a light word inside a name":                               {museum, "opening hours of the Cold War Bunker", `{"venue":"Cold War Bunker"}`, nil},
		"a place behind a name that is asked for too":              {lodging, "a room at the Harbour Hotel in Faro", `{"city":"Faro","hotel":"Harbour Hotel"}`, nil},
		"a single letter may be a name":                            {lodging, "a room at Hotel Roma in Washington D.C.", `{"city":"Washington D.C","hotel":"Hotel Roma"}`, nil},
		"a word that announces a code is no part of it":            {parcel, "where is parcel ID KX77P", `{"parcel_id":"KX77P"}`, nil},
		"a time of day as it is written":                           {table, "a table at 7:30 pm in Faro", `{"city":"Faro","time":"7:30 pm"}`, nil},
		"a word that stands for a value is none":                   {table, "a table in the given city", `{}`, []string{"city"}},
		"a month is a period where its ends are asked for":         {absence, "absences in December", `{"end_date":"2026-12-31","start_date":"2026-12-01"}`, nil},
		"a month of a year, in Portuguese":                         {absence, "ausências em fevereiro de 2028", `{"end_date":"2028-02-29","start_date":"2028-02-01"}`, nil},
		"a month that is a verb is no period":                      {absence, "absences may be long", `{}`, []string{"start_date", "end_date"}},
		"another request behind a name is no item of a list":       {invite, "invite Ana and bake a cake", `{"person":"Ana"}`, nil},
		"another name is":                                          {invite, "invite Ana and Bruno", `{"people":["Ana","Bruno"]}`, nil},
		"names in small letters are items, too":                    {invite, "invite ana and bruno", `{"people":["ana","bruno"]}`, nil},
		"a noun that may also be a verb of speech":                 {meter, "the meter reading for the second gauge in the old cellar 'G-7'", `{"gauge":"G-7"}`, nil},
		"words in small letters before the name of the parameter":  {song, "play the samba genre", `{"genre":"samba"}`, nil},
		"a word before what the description speaks of":             {boat, "the price of a wooden boat", `{"make":"wooden"}`, nil},
		"words in small letters behind the name of the parameter":  {score, "play the composer sibelius", `{"composer":"sibelius"}`, nil},
		"two names with a comma between are two":                   {pairing, "compare the price of Norsk, Hafen", `{"first":"Norsk","second":"Hafen"}`, nil},
		"a code, whatever the order is":                            {warranty, "the warranty of KX77 for Bruno", `{"owner":"Bruno","serial":"KX77"}`, nil},
		"words that stood before values in the examples":           {shipping, "ship it for Nora per Norsk", `{"carrier":"Norsk","receiver":"Nora"}`, nil},
		"a sentence in quotation marks is what somebody says":      {notice, `look up "Alba" "the boat leaves at nine today"`, `{"message":"the boat leaves at nine today","title":"Alba"}`, nil},
		"one sentence in quotation marks, and a title is asked":    {notice, `look up "the boat leaves at nine today"`, `{"message":"the boat leaves at nine today"}`, []string{"title"}},
		"a quotation behind a name that has its value already":     {post, `tell the kitchen channel "soup is ready"`, `{"channel":"kitchen","message":"soup is ready"}`, nil},
		"a quotation behind the name of one of two":                {post, `channel "kitchen" message "soup is ready"`, `{"channel":"kitchen","message":"soup is ready"}`, nil},
		"a hotel and its city":                                     {lodging, "a room at the Harbour Hotel, Faro", `{"city":"Faro","hotel":"Harbour Hotel"}`, nil},
		"two names for one parameter are asked":                    {score, "play something of Norsk, Hafen", `{}`, []string{"composer"}},
		"words of the request are no value":                        {books, "find books in the shop", `{}`, []string{"title"}},
		"a verb at the start of a sentence is no name for a write": {courier, "Notify everybody", `{}`, []string{"recipient", "text"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := complete(t, c.capability, c.say)
			got, err := json.Marshal(f.Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("values of %q (-want +got):\n%s%v", c.say, diff, f.Evidence)
			}
			if diff := cmp.Diff(c.missing, f.Missing); diff != "" {
				t.Errorf("missing of %q (-want +got):\n%s", c.say, diff)
			}
		})
	}
}

// Every value says where it stands, by what it was read and how sure that is.
func TestEveryFreeValueHasItsEvidence(t *testing.T) {
	t.Parallel()
	const say = "flights from Porto to Rio de Janeiro"
	f := complete(t, flight, say)
	if diff := cmp.Diff([]string{"destination", "origin"}, slices.Sorted(maps.Keys(f.Evidence))); diff != "" {
		t.Fatal(diff)
	}
	for name, want := range map[string]string{"origin": "Porto", "destination": "Rio de Janeiro"} {
		ev := f.Evidence[name]
		if got := say[ev.Span[0]:ev.Span[1]]; got != want || ev.Kind != "phrase" || ev.P < 0.5 || ev.P > 1 {
			t.Errorf("%s: %q by %s with p %g", name, got, ev.Kind, ev.P)
		}
	}
}

// Strong evidence alone decides which capability is meant; free words are read
// only after.
func TestFillLeavesFreeWordsAlone(t *testing.T) {
	t.Parallel()
	if f := fill(t, weather, "what will it be like in Lisbon"); len(f.Values) > 0 {
		t.Errorf("strong evidence gave %v", f.Values)
	}
}

// What is less probable than the gate of a write is asked there, though a read
// takes it.
func TestAWriteNeedsMoreThanARead(t *testing.T) {
	t.Parallel()
	const form = `{"name":"show_card","description":"A card.","schema":{"type":"object","properties":{"holder":{"type":"string"}},"required":["holder"]},"metadata":{"side_effect_class":"CLASS"}}`
	for class, want := range map[string]string{"read": `{"holder":"Ines"}`, "write_reversible": `{}`} {
		raw := form[:len(form)-len(`CLASS"}}`)] + class + `"}}`
		got, err := json.Marshal(complete(t, raw, "show a card, Ines").Values)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s: got %s, want %s", class, got, want)
		}
	}
}

func TestAnswerBehindAPreposition(t *testing.T) {
	t.Parallel()
	tools := slots.NewTools()
	set := slots.Compile(tools, capability(t, weather), "", nil)
	for say, want := range map[string]string{"in porto alegre": "porto alegre", "porto alegre": "porto alegre", "em Lisboa": "Lisboa"} {
		f := set.Answer(tools.Read(say, saturday), []string{"city"})
		if f.Values["city"] != want {
			t.Errorf("%q answers %v, want %q", say, f.Values["city"], want)
		}
	}
}
