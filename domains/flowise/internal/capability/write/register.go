// Package write changes flows: creates, updates, renames, rolls back and deletes them.
// Each write is kept before it is sent, is bound to what was looked at, and can be
// looked for afterwards.
package write

import (
	"errors"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Writer holds the capabilities that write.
type Writer struct {
	site   *site.Site
	rules  *policy.Rules
	author *author.Author
}

// New makes them; what they write is made by the author.
func New(s *site.Site, rules *policy.Rules, a *author.Author) *Writer { return &Writer{s, rules, a} }

// Register adds the capabilities; what the types cannot say of them stands in
// the manifest.
func (w *Writer) Register(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "find_write", OutputSchema: site.AppliedOnly()}, w.findWrite),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpCreate, Resolve: w.resolve(site.OpCreate)}, w.createChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpPatch, Resolve: w.resolve(site.OpPatch)}, w.applyPatch),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpRename, Resolve: w.resolve(site.OpRename)}, w.renameChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpDuplicate, Resolve: w.resolve(site.OpDuplicate)}, w.duplicateChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpRollback, Resolve: w.resolve(site.OpRollback)}, w.rollbackChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpRestoreName, Resolve: w.resolve(site.OpRestoreName)}, w.renameChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpRestoreVersion, Resolve: w.resolve(site.OpRestoreVersion)}, w.rollbackChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpDelete, Resolve: w.resolve(site.OpDelete)}, w.deleteChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: site.OpPattern, Resolve: w.resolve(site.OpPattern)}, w.savePattern),
		domainkit.Add(svc, domainkit.Capability{Name: "delete_pattern"}, w.deletePattern),
	)
}
