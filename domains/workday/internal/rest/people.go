package rest

import (
	"context"
	"net/url"
)

// Ref is Workday's reference to an instance.
type Ref struct {
	ID         string `json:"id"`
	Descriptor string `json:"descriptor,omitempty"`
}

func (r Ref) identity() string { return r.ID }

// Worker is a person of the common service. The service also sends the date of birth and home data;
// they are dropped.
type Worker struct {
	ID           string `json:"id"`
	Descriptor   string `json:"descriptor"`
	Title        string `json:"businessTitle"`
	Manager      bool   `json:"isManager"`
	Email        string `json:"primaryWorkEmail"`
	Phone        string `json:"primaryWorkPhone"`
	Organization Ref    `json:"primarySupervisoryOrganization"`
	Location     Ref    `json:"location"`
}

func (w Worker) identity() string { return w.ID }

// Staff is a person of the staffing service.
type Staff struct {
	ID string `json:"id"`
}

func (s Staff) identity() string { return s.ID }

// Organization is a supervisory organization.
type Organization struct {
	ID         string `json:"id"`
	Descriptor string `json:"descriptor"`
	Name       string `json:"name"`
	Manager    Ref    `json:"manager"`
}

// TitleChange is a pending or completed change of a business title.
type TitleChange struct {
	ID        string `json:"id"`
	Current   string `json:"currentBusinessTitle"`
	Proposed  string `json:"proposedBusinessTitle"`
	Effective string `json:"effective"`
	Initiated string `json:"initiated"`
	Subject   Ref    `json:"subject"`
}

func (t TitleChange) identity() string { return t.ID }

// SearchWorkers returns people with a name that starts with any of the words.
func (c *Client) SearchWorkers(ctx context.Context, words string, most int) (Page[Worker], error) {
	return list[Worker](ctx, c, c.cfg.Paths.Common+"/workers", url.Values{"search": {words}}, most)
}

// FindStaff returns people by their work e-mail address.
func (c *Client) FindStaff(ctx context.Context, email string, most int) (Page[Staff], error) {
	return list[Staff](ctx, c, c.cfg.Paths.Staffing+"/workers", url.Values{"email": {email}}, most)
}

// Worker returns one person by Workday id or reference id.
func (c *Client) Worker(ctx context.Context, id string) (Worker, error) {
	var w Worker
	err := c.get(ctx, c.cfg.Paths.Common+"/workers/"+url.PathEscape(id), nil, &w)
	return w, err
}

// Organization returns one supervisory organization.
func (c *Client) Organization(ctx context.Context, id string) (Organization, error) {
	var o Organization
	err := c.get(ctx, c.cfg.Paths.Common+"/supervisoryOrganizations/"+url.PathEscape(id), nil, &o)
	return o, err
}

// DirectReports returns the direct reports of a worker.
func (c *Client) DirectReports(ctx context.Context, id string, most int) (Page[Worker], error) {
	return list[Worker](ctx, c, c.cfg.Paths.Common+"/workers/"+url.PathEscape(id)+"/directReports", nil, most)
}

// TitleChanges returns the changes of a worker's business title.
func (c *Client) TitleChanges(ctx context.Context, id string) ([]TitleChange, error) {
	page, err := list[TitleChange](ctx, c, c.titleChanges(id), nil, 500)
	return page.Items, err
}

// ChangeTitle proposes a business title.
func (c *Client) ChangeTitle(ctx context.Context, id, title string) (TitleChange, error) {
	var out TitleChange
	in := map[string]string{"proposedBusinessTitle": title}
	err := c.post(ctx, c.titleChanges(id), in, &out)
	return out, err
}

func (c *Client) titleChanges(id string) string {
	return c.cfg.Paths.Common + "/workers/" + url.PathEscape(id) + "/businessTitleChanges"
}
