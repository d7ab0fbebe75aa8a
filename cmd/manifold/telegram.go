package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/internal/app"
)

// telegramOptions is the configuration of the Telegram bot.
type telegramOptions struct {
	Token  string            `json:"token,omitempty"`
	Users  map[string]string `json:"users,omitempty"`
	Groups []string          `json:"groups,omitempty"`
	API    string            `json:"api_url,omitempty"`
}

func (o *telegramOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Token, "telegram-token", "", "token of a Telegram bot, as env:NAME")
	flags.StringToStringVar(&o.Users, "telegram-users", nil, "who may use the bot, by Telegram user id, as 4711=rita:viewer+operator")
	flags.StringSliceVar(&o.Groups, "telegram-groups", nil, "ids of the groups that the bot answers in")
	flags.StringVar(&o.API, "telegram-api-url", "", "where the Bot API is, if not at Telegram")
}

// config reads who may use the bot, and the token out of the environment.
func (o *telegramOptions) config(lookup func(string) (string, bool)) (app.Telegram, error) {
	out := app.Telegram{APIURL: o.API, People: map[int64]app.TelegramPerson{}}
	if o.Token == "" {
		if len(o.Users) > 0 || len(o.Groups) > 0 || o.API != "" {
			return out, usagef("the other --telegram flags need --telegram-token")
		}
		return out, nil
	}
	name, ok := strings.CutPrefix(o.Token, "env:")
	token, found := lookup(name)
	if !ok || !found {
		return out, usagef("--telegram-token must be env:NAME, and the variable must be set")
	}
	out.Token = strings.TrimSpace(token)
	for id, who := range o.Users {
		n, err := strconv.ParseInt(id, 10, 64)
		person, roles, both := strings.Cut(who, ":")
		if err != nil || !both {
			return out, usagef("--telegram-users must be ID=NAME:ROLE+ROLE, not %s=%s", id, who)
		}
		out.People[n] = app.TelegramPerson{Name: person, Roles: strings.Split(roles, "+")}
	}
	for _, id := range o.Groups {
		n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
		if err != nil {
			return out, usagef("--telegram-groups must be numbers, not %q", id)
		}
		out.Groups = append(out.Groups, n)
	}
	return out, nil
}
