package contracts

// AuditRoot is a signed root of the audit log: a note that others can check.
type AuditRoot struct {
	Size int64  `json:"size"`
	Note string `json:"note"`
}

// AuditProof shows that an entry of a ledger is under a signed root. Entries are
// the chain from the entry to the one that the leaf names; Leaf is the record
// at Place, and Path the hashes from it to the root, in base64 (RFC 6962).
type AuditProof struct {
	Entries []LedgerEntry `json:"entries"`
	Leaf    string        `json:"leaf"`
	Place   int64         `json:"place"`
	Path    []string      `json:"path"`
	Root    AuditRoot     `json:"root"`
}

// AuditConsistency shows that the log under a root has grown from the one of
// From leaves (RFC 6962).
type AuditConsistency struct {
	From int64     `json:"from"`
	Path []string  `json:"path"`
	Root AuditRoot `json:"root"`
}
