package webhook

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/manifold-run/manifold/contracts"
)

// GuardConfig specifies which addresses may be reached besides public ones.
type GuardConfig struct {
	// AllowLoopback permits this machine, AllowPrivate the private networks of RFC 1918, RFC 4193
	// and RFC 6598. Neither permits metadata services.
	AllowLoopback bool
	AllowPrivate  bool
	// Allow permits networks of any kind, such as "169.254.1.0/24".
	Allow []string
	// RequireTLS rejects http URLs.
	RequireTLS bool
}

// Guard prevents requests to URLs of callers from reaching internal addresses (SSRF). It is safe
// for concurrent use.
type Guard struct {
	cfg   GuardConfig
	allow []netip.Prefix
}

// NewGuard returns a guard, or an error if a network in Allow is not valid.
func NewGuard(cfg GuardConfig) (*Guard, error) {
	g := &Guard{cfg: cfg}
	for _, text := range cfg.Allow {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, contracts.Errorf(contracts.CodeInvalid, "allowed network %q: %w", text, err)
		}
		g.allow = append(g.allow, prefix.Masked())
	}
	return g, nil
}

// GuardBeside returns the guard for addresses that a server names. If the server has a public
// address, private ones are forbidden; a server with a private address may name private ones.
func GuardBeside(ctx context.Context, server string) (*Guard, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "this is no URL")
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "the server %s cannot be found: %w", u.Hostname(), err)
	}
	guard, err := NewGuard(GuardConfig{})
	for _, addr := range addrs {
		if err == nil && guard.Check(addr) != nil {
			return NewGuard(GuardConfig{AllowLoopback: true, AllowPrivate: true})
		}
	}
	return guard, err
}

// CheckURL checks a URL before it is stored. A host name passes; its addresses are checked at
// every dial.
func (g *Guard) CheckURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "this is no URL")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return contracts.Errorf(contracts.CodeInvalid, "the URL must begin with https:// or http://")
	case g.cfg.RequireTLS && u.Scheme != "https":
		return contracts.Errorf(contracts.CodeInvalid, "the URL must begin with https://")
	case u.Hostname() == "":
		return contracts.Errorf(contracts.CodeInvalid, "the URL names no host")
	case u.User != nil:
		return contracts.Errorf(contracts.CodeInvalid, "the URL must not hold a user or a password")
	case u.Fragment != "":
		return contracts.Errorf(contracts.CodeInvalid, "the URL must not hold a fragment")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return g.Check(addr)
	}
	if host := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return g.Check(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	return nil
}

// Control is a control function for net.Dialer. It checks the address before it is dialed.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return contracts.Errorf(contracts.CodeForbidden, "only TCP is allowed, not %s", network)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return contracts.Errorf(contracts.CodeForbidden, "this is no address: %w", err)
	}
	return g.Check(at.Addr())
}

// Check returns an error of code forbidden if the address must not be reached.
func (g *Guard) Check(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	if slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return nil
	}
	if inner, ok := embedded(addr); ok {
		return g.Check(inner)
	}
	if kind := g.refusal(addr); kind != "" {
		return contracts.Errorf(contracts.CodeForbidden, "the address %s is %s and must not be reached from here", addr, kind)
	}
	return nil
}

// refusal returns why an address is forbidden, or "" if it is allowed.
func (g *Guard) refusal(addr netip.Addr) string {
	switch {
	case slices.Contains(metadataAddrs(), addr):
		return "a metadata service"
	case addr.IsUnspecified():
		return "unspecified"
	case addr.IsLoopback():
		return unless(g.cfg.AllowLoopback, "a loopback address")
	case addr.IsLinkLocalUnicast(), addr.IsLinkLocalMulticast(), addr.IsInterfaceLocalMulticast():
		return "link-local"
	case addr.IsMulticast():
		return "multicast"
	case addr.IsPrivate(), netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, 0, 0}), 10).Contains(addr):
		return unless(g.cfg.AllowPrivate, "a private address")
	case reserved(addr):
		return "reserved"
	}
	return ""
}

func unless(allowed bool, kind string) string {
	if allowed {
		return ""
	}
	return kind
}

// metadataAddrs returns the well-known metadata services outside the link-local range, and the
// most common one inside it.
func metadataAddrs() []netip.Addr {
	return []netip.Addr{
		netip.AddrFrom4([4]byte{169, 254, 169, 254}),
		netip.AddrFrom4([4]byte{100, 100, 100, 200}),
		netip.AddrFrom4([4]byte{168, 63, 129, 16}),
		netip.AddrFrom4([4]byte{192, 0, 0, 192}),
		netip.AddrFrom16([16]byte{0xfd, 0x00, 0x0e, 0xc2, 14: 0x02, 15: 0x54}),
	}
}

// reserved reports whether an address is reserved, such as for documentation.
func reserved(addr netip.Addr) bool {
	if addr.Is4() {
		b := addr.As4()
		switch {
		case b[0] == 0, b[0] >= 240:
			return true
		case b[0] == 192 && b[1] == 0 && (b[2] == 0 || b[2] == 2):
			return true
		case b[0] == 198 && (b[1]&0xfe == 18 || b[1] == 51 && b[2] == 100):
			return true
		case b[0] == 203 && b[1] == 0 && b[2] == 113:
			return true
		}
		return false
	}
	b := addr.As16()
	switch {
	case b[0]&0xe0 != 0x20: // outside 2000::/3, the global range
		return true
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8: // documentation
		return true
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0: // Teredo
		return true
	}
	return false
}

// embedded returns the IPv4 address that is embedded in an IPv6 address with a translation
// prefix: 64:ff9b::/96 (NAT64), 2002::/16 (6to4) and ::/96 (IPv4-compatible).
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	switch {
	case binary.BigEndian.Uint64(b[:]) == 0x0064_ff9b_0000_0000 && binary.BigEndian.Uint32(b[8:]) == 0:
		return netip.AddrFrom4([4]byte(b[12:])), true
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case binary.BigEndian.Uint64(b[:]) == 0 && binary.BigEndian.Uint32(b[8:]) == 0 && !addr.IsLoopback() && !addr.IsUnspecified():
		return netip.AddrFrom4([4]byte(b[12:])), true
	}
	return netip.Addr{}, false
}
