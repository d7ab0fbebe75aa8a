package site

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Credentials reads the credentials from the server, because a new one must be found. If the server
// does not answer, it returns the stored ones with stale set.
func (s *Site) Credentials(ctx context.Context, instance string) (list []knowledge.Credential, stale bool, err error) {
	client, err := s.Pool.Client(instance)
	if err != nil {
		return nil, false, Failure(err)
	}
	list, askErr := askCredentials(ctx, client)
	if askErr == nil {
		encoded, err := knowledge.EncodeCredentials(list)
		if err != nil {
			return nil, false, err
		}
		return list, false, s.Data.PutSnapshot(ctx, instance, SnapshotCredentials, encoded)
	}
	raw, _, err := s.Data.Snapshot(ctx, instance, SnapshotCredentials)
	if err != nil {
		return nil, false, err
	}
	if raw == nil {
		return nil, false, Failure(askErr)
	}
	list, err = knowledge.DecodeCredentials(raw)
	return list, true, err
}

var boundCredential = regexp.MustCompile(`"(credential|FLOWISE_CREDENTIAL_ID)"\s*:\s*"[^"]`)

// CredentialTypes returns the types of the server's credentials by id, for a graph that uses any.
// It returns nil if the server does not answer: that is not a fault of the graph.
func (s *Site) CredentialTypes(ctx context.Context, instance, flowData string) map[string]string {
	if !boundCredential.MatchString(flowData) {
		return nil
	}
	all, stale, err := s.Credentials(ctx, instance)
	if err != nil || stale {
		return nil
	}
	out := make(map[string]string, len(all))
	for _, c := range all {
		out[c.ID] = c.Type
	}
	return out
}

func askCredentials(ctx context.Context, client *api.Client) ([]knowledge.Credential, error) {
	all, err := client.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]knowledge.Credential, 0, len(all))
	for _, c := range all {
		out = append(out, knowledge.Credential{ID: c.ID, Name: c.Name, Type: c.Kind, Tags: []string{}, CreatedAt: c.CreatedDate, UpdatedAt: c.UpdatedDate})
	}
	return out, nil
}

// CredentialOf finds one credential by id, by name or, if it is the only one of its type, by type.
func CredentialOf(all []knowledge.Credential, wanted string) (knowledge.Credential, error) {
	var fits []knowledge.Credential
	for _, c := range all {
		if strings.EqualFold(c.ID, wanted) {
			return c, nil
		}
		if SameName(c.Name, wanted) || strings.EqualFold(c.Type, wanted) {
			fits = append(fits, c)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return knowledge.Credential{}, domainkit.Refusef(contracts.ErrNotFound, "there is no credential %q; create it in Flowise, or name another", wanted)
	}
	var names []string
	for _, c := range fits[:min(5, len(fits))] {
		names = append(names, fmt.Sprintf("%s (%s)", c.Name, c.ID))
	}
	return knowledge.Credential{}, domainkit.Refusef(contracts.ErrPrecondition, "several credentials are called %q, say which by its id: %s", wanted, strings.Join(names, ", "))
}
