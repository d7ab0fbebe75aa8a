package sandbox

// The names mix the countries of a global company. Many first names are shared by several people,
// as in reality.

func firstNames() []string {
	return []string{
		"Ana", "Bruno", "Carla", "Daniel", "Eduarda", "Felipe", "Gabriela", "Henrique", "Isabela", "João",
		"Larissa", "Mateus", "Natália", "Otávio", "Paula", "Rafael", "Sofia", "Thiago", "Vitória", "Caio",
		"Anna", "Björn", "Clara", "Dieter", "Elke", "Friedrich", "Greta", "Hannes", "Ingrid", "Jürgen",
		"Katrin", "Lukas", "Maren", "Niklas", "Petra", "Sebastian", "Theresa", "Uwe", "Wiebke", "Zoë",
		"Aisha", "Arjun", "Deepa", "Farid", "Haruka", "Imran", "Jin", "Kavita", "Li", "Mei",
		"Minh", "Nikhil", "Priya", "Rahul", "Sanjay", "Sora", "Thuy", "Wei", "Yasmin", "Yuki",
		"Aaron", "Alice", "Benjamin", "Chloe", "Dominic", "Emily", "Grace", "Hannah", "Jack", "Laura",
		"Marcus", "Nora", "Oliver", "Peter", "Rachel", "Samuel", "Tessa", "Victor", "William", "Zachary",
		"Chiara", "Élodie", "François", "Giulia", "Javier", "Lucía", "Marta", "Noémie", "Pablo", "Renée",
	}
}

func lastNames() []string {
	return []string{
		"Almeida", "Barbosa", "Cardoso", "Dias", "Esteves", "Ferreira", "Gonçalves", "Lopes", "Martins", "Moreira",
		"Nogueira", "Oliveira", "Pereira", "Queiroz", "Ramos", "Santos", "Teixeira", "Vieira", "Xavier", "Araújo",
		"Becker", "Bergmann", "Fischer", "Graf", "Hoffmann", "Jansen", "Klein", "Krüger", "Lehmann", "Meyer",
		"Neumann", "Otto", "Richter", "Schäfer", "Schröder", "Vogel", "Wagner", "Weiß", "Winkler", "Ziegler",
		"Ahmed", "Banerjee", "Chen", "Desai", "Gupta", "Ito", "Kaur", "Khan", "Kim", "Kumar",
		"Lin", "Mehta", "Nakamura", "Nguyen", "Park", "Rao", "Sato", "Tanaka", "Tran", "Zhang",
		"Baker", "Brooks", "Carter", "Clarke", "Dawson", "Ellis", "Foster", "Grant", "Hughes", "Ingram",
		"Jenkins", "Knight", "Lawson", "Mitchell", "Owens", "Palmer", "Reed", "Shaw", "Turner", "Walsh",
		"Bianchi", "Castro", "Dubois", "Fontana", "García", "Lefèvre", "Moreau", "Navarro", "Romero", "Vidal",
	}
}

// featured returns the people on whom tests and documents may rely, by their position in the
// company: their names are unique, they are employees with one job, and their balances are fixed.
// Several share a first name on purpose.
func featured() map[int]person {
	return map[int]person{
		7:  {"Helena", "Duarte"},
		8:  {"Marcus", "Feld"},
		47: {"Bruno", "Lima"},
		48: {"Ana", "Souza"},
		51: {"Carla", "Mendes"},
		52: {"Jonas", "Keller"},
		53: {"Ana", "Costa"},
		54: {"Ana", "Ribeiro"},
	}
}

type person struct{ first, last string }

// function is one of the six functions of the company.
type function struct {
	name   string
	titles []string
}

func functions() []function {
	return []function{
		{"Product Engineering", []string{"Software Engineer", "Quality Engineer", "Product Designer", "Data Engineer", "Site Reliability Engineer"}},
		{"People Operations", []string{"HR Partner", "Recruiter", "Learning Specialist", "Payroll Specialist"}},
		{"Controlling", []string{"Accountant", "Financial Analyst", "Tax Specialist", "Procurement Analyst"}},
		{"Sales", []string{"Account Executive", "Sales Engineer", "Partner Manager", "Sales Analyst"}},
		{"Customer Care", []string{"Support Engineer", "Customer Success Manager", "Service Analyst"}},
		{"Supply Chain", []string{"Logistics Planner", "Warehouse Lead", "Demand Analyst", "Fleet Coordinator"}},
	}
}

// site is a place of work.
type site struct{ name, country string }

func sites() []site {
	return []site{
		{"Lisbon", "Portugal"},
		{"São Paulo", "Brazil"},
		{"Berlin", "Germany"},
		{"Austin", "United States of America"},
		{"Singapore", "Singapore"},
	}
}

func processTypes() []string {
	return []string{
		string(RequestTimeOff), string(CorrectTimeOff), string(ChangeBusinessTitle),
		"Request Leave of Absence", "Return from Leave", "Hire", "Terminate Employee", string(ChangeJob),
		"Propose Compensation", "Request Compensation Change", "Request One-Time Payment", "Change Legal Name",
		"Change Personal Information", "Change Contact Information", "Create Position", "Create Job Requisition",
		"Assign Organization Roles", "Change Organization Assignments", "Start Performance Review",
		"Give Feedback", "Add Additional Job", "End Additional Job", "Contract Contingent Worker",
		"Enter Expense Report", "Change Work Schedule",
	}
}
