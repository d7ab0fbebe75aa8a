package write

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/transfer"
)

// Importing are the parameters of an import from a file in the operator's folder.
type Importing struct {
	site.Place
	policy.Base
	File string `json:"file" min:"1" max:"300" description:"Name of the file in the folder of exported flows"`
	Flow string `json:"flow,omitempty" max:"200" description:"Which flow of an export that holds several, by its name"`
	As   string `json:"as,omitempty" max:"200" description:"Name that it gets here; its own unless given"`
}

// importing plans that a flow becomes what a file contains.
func importing(ctx context.Context, w *Writer, call domainkit.Call, in Importing) (plan, error) {
	files, err := readFile(w.site.Folder, in.File)
	if err != nil {
		return plan{}, err
	}
	file, err := chosen(files, in)
	if err != nil {
		return plan{}, err
	}
	did := "imported from " + present.Clip(in.File, 80)
	if file.Foreign {
		return bringIn(ctx, w, call, file, did)
	}
	return carry(ctx, w, call, file, did)
}

// chosen returns the selected flow of a file, with its new name.
func chosen(files []transfer.File, in Importing) (transfer.File, error) {
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, fmt.Sprintf("%q", present.Clip(f.Name, 60)))
	}
	if in.Flow != "" {
		files = slices.DeleteFunc(slices.Clone(files), func(f transfer.File) bool { return !site.SameName(f.Name, in.Flow) })
	}
	list := strings.Join(names[:min(12, len(names))], ", ")
	switch len(files) {
	case 0:
		return transfer.File{}, domainkit.Refusef(contracts.ErrNotFound, "%s holds no flow called %q; it holds %s", present.Clip(in.File, 80), present.Clip(in.Flow, 80), list)
	case 1:
		file := files[0]
		file.Name = cmp.Or(in.As, file.Name)
		return file, nil
	}
	return transfer.File{}, domainkit.Refusef(contracts.ErrInvalidParameters, "%s holds %d flows; say which of them: %s", present.Clip(in.File, 80), len(names), list)
}

// maxFile bounds the size of a file in bytes.
const maxFile = 20 << 20

// readFile reads the flows of a file in the operator's folder. It cannot read outside of the
// folder.
func readFile(folder, name string) ([]transfer.File, error) {
	if folder == "" {
		return nil, domainkit.Refusef(contracts.ErrPrecondition, "this domain has no folder for flows; the operator names one by --folder")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the folder of flows: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written
	if !strings.HasSuffix(name, ".json") {
		name += ".json"
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, domainkit.Refusef(contracts.ErrNotFound, "there is no file %q in the folder of flows", present.Clip(name, 120))
	}
	defer func() { _ = f.Close() }() // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(raw) > maxFile {
		return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "%s is larger than %d MB; export the flow alone, without its messages", present.Clip(name, 120), maxFile>>20)
	}
	files, err := transfer.ReadAll(raw, name)
	if err != nil {
		return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "%s: %s", present.Clip(name, 120), site.Reason(err))
	}
	return files, nil
}

// bringIn plans that the server of the call gets a flow that Flowise exported or a person wrote. It
// fills in what an export leaves out, rebinds credentials that are unambiguous, and reports what
// remains to be set.
func bringIn(ctx context.Context, w *Writer, call domainkit.Call, file transfer.File, did string) (plan, error) {
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return plan{}, site.Failure(err)
	}
	if err := variablesThere(ctx, client, call.Instance, transfer.Variables(string(file.Flow))); err != nil {
		return plan{}, err
	}
	g, err := flow.Decompile(file.Flow)
	if err != nil {
		return plan{}, site.Unreadable(err)
	}
	defs, err := w.site.Definitions(ctx, call.Instance)
	if err != nil {
		return plan{}, err
	}
	g, kind, faults := flow.Complete(g, defs, flow.Kind(file.Type))
	file.Type = string(kind)
	now, err := calledSo(ctx, client, call.Instance, file.Name)
	if err != nil {
		return plan{}, err
	}
	ops, err := rebound(ctx, w, call, g, now, defs)
	if err != nil {
		return plan{}, err
	}
	made, err := flow.Compile(g, ops, defs, flow.Options{Kind: kind})
	if err != nil {
		return plan{}, site.Unreadable(err)
	}
	next := string(made.FlowData)
	report, checked, err := w.author.CheckExport(ctx, call.Instance, next, kind)
	if err != nil {
		return plan{}, err
	}
	if lacking := nodeByNode(report, faults); len(lacking) > 0 {
		refusal := domainkit.Refusef(contracts.ErrPrecondition, "%s cannot run here: %s", present.Clip(file.Name, 60), strings.Join(lacking[:min(maxLacking, len(lacking))], "; "))
		refusal.Detail = map[string]any{"findings": checked.Findings, "connections": faults}
		return plan{}, refusal
	}
	return placed(ctx, w, call, file, now, next, plan{did: did + stillOpen(report), checked: &checked})
}

// maxLacking bounds the nodes in a refusal.
const maxLacking = 8

// nodeByNode returns the first fault of each node, and the edges that fit no anchor. Unknown nodes
// come first, because they may cause the others.
func nodeByNode(report flow.Report, faults []contracts.Fault) []string {
	errors := report.Errors()
	if len(errors) > 0 {
		unknown := slices.DeleteFunc(report.Warnings(), func(f flow.Finding) bool { return f.Code != flow.CodeNodeUnknown })
		errors = append(unknown, errors...)
		slices.SortStableFunc(errors, func(a, b flow.Finding) int { return cmp.Compare(rank(a), rank(b)) })
	}
	var out []string
	seen := map[string]bool{}
	for _, f := range errors {
		where := cmp.Or(f.NodeID, f.Pointer)
		if seen[where] {
			continue
		}
		seen[where] = true
		text := f.Message
		if !strings.Contains(text, where) {
			text = where + ": " + text
		}
		out = append(out, present.Clip(text, 160)+" ("+present.Clip(f.Fix, 80)+")")
	}
	for _, f := range faults {
		out = append(out, present.Clip(f.Message, 160))
	}
	return out
}

func rank(f flow.Finding) int {
	switch f.Code {
	case flow.CodeNodeUnknown, "name_missing", "data_missing", "id_missing":
		return 0
	}
	return 1
}

// stillOpen describes what must be set after an import.
func stillOpen(report flow.Report) string {
	var out []string
	for _, f := range report.Warnings() {
		if f.Category == flow.Credential || f.Code == flow.CodeParamMissing {
			out = append(out, f.Message)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; still open: " + present.Clip(strings.Join(out, "; "), 160)
}

// rebound returns the ops that rebind the credentials of a flow: those of the flow that it
// replaces, those known to the server by id, or the only one of a type. A binding to an unknown
// credential is removed.
func rebound(ctx context.Context, w *Writer, call domainkit.Call, g *flow.Graph, now api.Flow, defs flow.Definitions) ([]flow.Op, error) {
	places := flow.CredentialPlaces(g, defs)
	if len(places) == 0 {
		return nil, nil
	}
	all, _, err := w.site.Credentials(ctx, call.Instance)
	if err != nil {
		return nil, err
	}
	before := map[string]string{}
	if old, err := flow.Decompile([]byte(now.FlowData)); now.ID != "" && err == nil {
		for _, p := range flow.CredentialPlaces(old, defs) {
			before[p.NodeID+" "+p.ParamName] = p.Bound
		}
	}
	var ops []flow.Op
	for _, p := range places {
		id := credentialFor(p, before[p.NodeID+" "+p.ParamName], all)
		if id != p.Bound {
			ops = append(ops, p.Bind(id))
		}
	}
	return ops, nil
}

// credentialFor returns the credential for a place, or "".
func credentialFor(p flow.CredentialPlace, before string, all []knowledge.Credential) string {
	fits := slices.DeleteFunc(slices.Clone(all), func(c knowledge.Credential) bool { return len(p.Types) > 0 && !slices.Contains(p.Types, c.Type) })
	for _, id := range []string{before, p.Bound} {
		if id != "" && slices.ContainsFunc(fits, func(c knowledge.Credential) bool { return c.ID == id }) {
			return id
		}
	}
	if len(fits) == 1 && !p.Optional {
		return fits[0].ID
	}
	return ""
}
