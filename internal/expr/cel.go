package expr

import (
	"container/list"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/manifold-run/manifold/contracts"
)

// The bounds of one expression.
const (
	maxSource   = 8 << 10
	maxCost     = 100_000
	maxResult   = 64 << 10
	maxPrograms = 4096
	maxNesting  = 64
)

// program is a compiled expression that is more than a path. It is only read.
type program struct {
	run cel.Program
	// paths are the longest select paths of the expression: what it reads.
	paths []contracts.Path
	// untyped are faults that only workflows are held to: arithmetic on values
	// whose type nobody knows.
	untyped []string
}

// environment is what expressions may use: the roots, the standard macros, and
// the extensions for texts, lists and numbers. There is no clock and no
// network.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.CustomTypeAdapter(adapter{}), cel.ParserExpressionSizeLimit(maxSource), cel.ParserRecursionLimit(maxNesting),
		ext.Strings(ext.StringsVersion(4)), ext.Lists(ext.ListsVersion(3), ext.ListsMaxRangeSize(contracts.MaxNodes)), ext.Math(ext.MathVersion(2)),
	}
	for _, root := range append(contracts.ExprRoots(), "parameters") {
		if root == "item" {
			options = append(options, cel.Variable(root, cel.DynType))
			continue
		}
		options = append(options, cel.Variable(root, cel.MapType(cel.StringType, cel.DynType)))
	}
	return cel.NewEnv(options...)
})

// programs keeps compiled expressions by their source: a run evaluates the same
// few again and again.
var programs = programCache{byAge: list.New(), bySource: map[string]*list.Element{}}

// programCache forgets what was not used for longest.
type programCache struct {
	mu       sync.Mutex // guards both
	byAge    *list.List
	bySource map[string]*list.Element
}

type cached struct {
	source  string
	program *program
	err     error
}

func (c *programCache) get(source string) (*program, error) {
	c.mu.Lock()
	if at, ok := c.bySource[source]; ok {
		c.byAge.MoveToFront(at)
		c.mu.Unlock()
		known, _ := at.Value.(cached)
		return known.program, known.err
	}
	c.mu.Unlock()
	made, err := compile(source)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.bySource[source]; !ok {
		c.bySource[source] = c.byAge.PushFront(cached{source, made, err})
	}
	for c.byAge.Len() > maxPrograms {
		last := c.byAge.Back()
		forgotten, _ := last.Value.(cached)
		delete(c.bySource, forgotten.source)
		c.byAge.Remove(last)
	}
	return made, err
}

// compiling is held while an expression is checked: an environment of the library
// (v0.33.2) makes its list of names for "undeclared reference" when it is first
// needed, and reads it elsewhere without a lock.
var compiling sync.Mutex

func check(env *cel.Env, source string) (*cel.Ast, *cel.Issues) {
	compiling.Lock()
	defer compiling.Unlock() // a stranger's expression may end it by a panic
	return env.Compile(source)
}

// compile reads and checks an expression.
func compile(source string) (p *program, err error) {
	defer func() {
		if r := recover(); r != nil { // a stranger's expression must not end the process
			err = contracts.Errorf(contracts.CodeInvalid, "the expression %.60q cannot be compiled: %v", source, r)
		}
	}()
	if len(source) > maxSource {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q… has more than %d bytes", source, maxSource)
	}
	env, err := environment()
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInternal, "expressions: %w", err)
	}
	checked, issues := check(env, source)
	if issues.Err() != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q: %s", source, firstIssue(issues))
	}
	run, err := env.Program(checked, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q: %w", source, err)
	}
	p = &program{run: run}
	w := walker{of: checked.NativeRep(), program: p}
	w.expr(checked.NativeRep().Expr(), nil)
	if w.unbounded != "" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q: %s", source, w.unbounded)
	}
	return p, nil
}

// firstIssue is what is wrong in one line: the library draws a picture below it.
func firstIssue(issues *cel.Issues) string {
	found := issues.Errors()
	if len(found) == 0 {
		return issues.Err().Error()
	}
	message, _, _ := strings.Cut(found[0].Message, "\n")
	if name, ok := strings.CutPrefix(message, "undeclared reference to '"); ok {
		name, _, _ = strings.Cut(name, "'")
		return fmt.Sprintf("%q is no root and no function; roots are %s", name, strings.Join(contracts.ExprRoots(), ", "))
	}
	return fmt.Sprintf("%s (at character %d)", message, found[0].Location.Column()+1)
}

// walker finds what an expression reads, and arithmetic whose operands have no
// known type.
type walker struct {
	of      *ast.AST
	program *program
	// unbounded is what is wrong with a call that could build any amount of text.
	unbounded string
}

// maxInserted is how long a text may be that is put in many places at once: the
// cost of what it makes is known only when it is made.
const maxInserted = 64

// bounds refuses calls that multiply texts of unknown length.
func (w *walker) bounds(call ast.CallExpr) {
	args := call.Args()
	switch name := call.FunctionName(); {
	case name == "replace" && len(args) >= 2:
		if old, ok := text(args[0]); !ok || old == "" {
			w.unbounded = "what replace looks for must stand in the expression, and not be empty"
		} else if with, ok := text(args[1]); !ok || len(with) > maxInserted {
			w.unbounded = fmt.Sprintf("what replace puts in must stand in the expression, with at most %d bytes", maxInserted)
		}
	case name == "join" && len(args) == 1:
		if between, ok := text(args[0]); !ok || len(between) > maxInserted {
			w.unbounded = fmt.Sprintf("what join puts between must stand in the expression, with at most %d bytes", maxInserted)
		}
	}
}

// text is a text that stands in an expression as it is.
func text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().Value().(string)
	return s, ok
}

// expr walks one node; bound are the variables of the macros around it.
func (w *walker) expr(e ast.Expr, bound []string) {
	if path := selects(e, bound); path != nil {
		w.note(path)
		w.indexes(e, bound)
		return
	}
	switch e.Kind() {
	case ast.CallKind:
		w.arithmetic(e.AsCall())
		w.bounds(e.AsCall())
		if e.AsCall().IsMemberFunction() {
			w.expr(e.AsCall().Target(), bound)
		}
		for _, arg := range e.AsCall().Args() {
			w.expr(arg, bound)
		}
	case ast.SelectKind:
		w.expr(e.AsSelect().Operand(), bound)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			w.expr(item, bound)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			w.expr(entry.AsMapEntry().Key(), bound)
			w.expr(entry.AsMapEntry().Value(), bound)
		}
	case ast.ComprehensionKind:
		w.comprehension(e.AsComprehension(), bound)
	case ast.StructKind, ast.IdentKind, ast.LiteralKind, ast.UnspecifiedExprKind:
	}
}

func (w *walker) comprehension(c ast.ComprehensionExpr, bound []string) {
	w.expr(c.IterRange(), bound)
	w.expr(c.AccuInit(), bound)
	inner := append(slices.Clone(bound), c.AccuVar(), c.IterVar())
	if c.HasIterVar2() {
		inner = append(inner, c.IterVar2())
	}
	w.expr(c.LoopCondition(), inner)
	w.expr(c.LoopStep(), inner)
	w.expr(c.Result(), append(slices.Clone(bound), c.AccuVar()))
}

func (w *walker) note(path contracts.Path) {
	if path[0].Name == "parameters" {
		path[0].Name = "params"
	}
	same := func(p contracts.Path) bool { return p.String() == path.String() }
	if !slices.ContainsFunc(w.program.paths, same) {
		w.program.paths = append(w.program.paths, path)
	}
}

// indexes walks what stands in the brackets of a path: a path may end at an
// index that is an expression itself.
func (w *walker) indexes(e ast.Expr, bound []string) {
	for {
		switch {
		case e.Kind() == ast.SelectKind:
			e = e.AsSelect().Operand()
		case isIndex(e):
			if _, constant := step(e.AsCall().Args()[1]); !constant {
				w.expr(e.AsCall().Args()[1], bound)
			}
			e = e.AsCall().Args()[0]
		default:
			return
		}
	}
}

// selects returns the longest path from a root that an expression is, nil if it is
// none. What follows an index that only evaluation knows is not part of it.
func selects(e ast.Expr, bound []string) contracts.Path {
	switch {
	case e.Kind() == ast.IdentKind:
		if name := e.AsIdent(); !slices.Contains(bound, name) && isRoot(name) {
			return contracts.Path{{Name: name}}
		}
	case e.Kind() == ast.SelectKind:
		if path := selects(e.AsSelect().Operand(), bound); path != nil {
			if open(e.AsSelect().Operand()) {
				return path
			}
			return append(path, contracts.PathStep{Name: e.AsSelect().FieldName()})
		}
	case isIndex(e):
		args := e.AsCall().Args()
		if path := selects(args[0], bound); path != nil {
			if next, constant := step(args[1]); constant && !open(args[0]) {
				return append(path, next)
			}
			return path
		}
	}
	return nil
}

// open reports whether a path has an index in it that only evaluation knows.
func open(e ast.Expr) bool {
	switch {
	case e.Kind() == ast.SelectKind:
		return open(e.AsSelect().Operand())
	case isIndex(e):
		_, constant := step(e.AsCall().Args()[1])
		return !constant || open(e.AsCall().Args()[0])
	default:
		return false
	}
}

func isRoot(name string) bool {
	return name == "parameters" || slices.Contains(contracts.ExprRoots(), name)
}

func isIndex(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index
}

func step(e ast.Expr) (contracts.PathStep, bool) {
	if e.Kind() != ast.LiteralKind {
		return contracts.PathStep{}, false
	}
	switch v := e.AsLiteral().(type) {
	case types.String:
		return contracts.PathStep{Name: string(v)}, true
	case types.Int:
		return contracts.PathStep{Index: int(v), IsIndex: true}, v >= 0
	default:
		return contracts.PathStep{}, false
	}
}

// arithmetic notes operands whose type is not known before there is a value:
// what is a whole number in JSON may be 3 today and 3.5 tomorrow, and CEL has no
// int + double.
func (w *walker) arithmetic(call ast.CallExpr) {
	sign, ok := map[string]string{
		operators.Add: "+", operators.Subtract: "-", operators.Multiply: "*", operators.Divide: "/",
		operators.Modulo: "%", operators.Negate: "-",
	}[call.FunctionName()]
	if !ok {
		return
	}
	for _, arg := range call.Args() {
		if w.of.GetType(arg.ID()).Kind() == types.ListKind {
			return // a list takes only lists: there is nothing to mix up
		}
	}
	for _, arg := range call.Args() {
		if kind := w.of.GetType(arg.ID()).Kind(); kind == types.DynKind || kind == types.AnyKind {
			w.program.untyped = append(w.program.untyped, fmt.Sprintf(
				"%s has an operand whose type is not known; name it, as in double(…) %s 2.0, int(…), or string(…)", quoted(sign), sign))
			return
		}
	}
}

func quoted(sign string) string { return `"` + sign + `"` }

// eval computes an expression. The reads are all paths of it, those that lead
// nowhere with a nil value: their absence may have decided something.
func (p *program) eval(source string, scope Scope) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = nil, contracts.Errorf(contracts.CodeInvalid, "the expression %.60q failed: %v", source, r)
		}
	}()
	values := map[string]any{}
	for _, path := range p.paths {
		root, ok := scope[path.Root()]
		if !ok && path.Root() == "params" {
			root, ok = scope["parameters"]
		}
		switch {
		case ok && root != nil:
			values[path.Root()] = adapter{}.NativeToValue(root)
		case path.Root() != "item":
			values[path.Root()] = map[string]any{}
		}
	}
	if params, ok := values["params"]; ok {
		values["parameters"] = params
	}
	out, _, err := p.run.Eval(values)
	if err != nil {
		return nil, &EvalError{Source: source, Cause: err}
	}
	value, err = toJSON(out)
	if err != nil {
		return nil, &EvalError{Source: source, Cause: err}
	}
	raw, err := contracts.Canonical(value)
	if err != nil {
		return nil, &EvalError{Source: source, Cause: err}
	}
	if len(raw) > maxResult {
		return nil, &EvalError{Source: source, Cause: fmt.Errorf("it gives %d bytes; %d are allowed", len(raw), maxResult)}
	}
	return contracts.Normalize(value)
}

// EvalError says that an expression could not be computed from the values that
// there were.
type EvalError struct {
	Source string
	Cause  error
}

// Error reports which expression failed, and why.
func (e *EvalError) Error() string {
	return fmt.Sprintf("${%s} cannot be computed: %s", shortened(e.Source), e.Cause)
}

// Unwrap returns the cause, as what was wrong with the expression or what it read.
func (e *EvalError) Unwrap() error { return contracts.Errorf(contracts.CodeInvalid, "%w", e.Cause) }

func shortened(source string) string {
	if runes := []rune(source); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return source
}
