package flow_test

import (
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// Placeholders for the services and credentials of the flows below; they are replaced before a real
// server runs the flows.
const (
	someModel      = "http://127.0.0.1:18081/v1"
	someMCP        = "http://127.0.0.1:18082/mcp"
	someCredential = "the-credential"
)

// built are flows made only of ops, in the order that an author would write.
func built() map[string]string {
	return map[string]string{
		"custom function": `[
			{"op_type":"AddNode","node_name":"customFunction","node_id":"echo","label":"Echo","output":"EndingNode",
			 "params":{"javascriptFunction":"return 'echo:' + $flow.input"}}]`,
		"condition": `[
			{"op_type":"AddNode","node_name":"startAgentflow"},
			{"op_type":"AddNode","node_name":"conditionAgentflow","params":{"conditions":[
				{"type":"string","value1":"{{ question }}","operation":"equal","value2":"yes"},
				{"type":"string","value1":"{{ question }}","operation":"equal","value2":"no"}]}},
			{"op_type":"AddNode","node_name":"directReplyAgentflow","node_id":"yes","params":{"directReplyMessage":"YES {{ question }}"}},
			{"op_type":"AddNode","node_name":"directReplyAgentflow","node_id":"no","params":{"directReplyMessage":"NO"}},
			{"op_type":"AddNode","node_name":"directReplyAgentflow","node_id":"other","params":{"directReplyMessage":"ELSE"}},
			{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"conditionAgentflow_0"},
			{"op_type":"Connect","source_node_id":"conditionAgentflow_0","source_anchor":"0","target_node_id":"yes"},
			{"op_type":"Connect","source_node_id":"conditionAgentflow_0","source_anchor":"1","target_node_id":"no"},
			{"op_type":"Connect","source_node_id":"conditionAgentflow_0","source_anchor":"else","target_node_id":"other"}]`,
		"conversation": `[
			{"op_type":"AddNode","node_name":"chatOpenAI","params":{"modelName":"gpt-4o-mini","basepath":"http://127.0.0.1:18081/v1","streaming":false,"temperature":0.2}},
			{"op_type":"AddNode","node_name":"bufferMemory"},
			{"op_type":"AddNode","node_name":"conversationChain"},
			{"op_type":"BindCredential","node_id":"chatOpenAI_0","credential_id":"the-credential","credential_type":"openAIApi"},
			{"op_type":"Connect","source_node_id":"chatOpenAI_0","target_node_id":"conversationChain_0","target_anchor":"model"},
			{"op_type":"Connect","source_node_id":"bufferMemory_0","target_node_id":"conversationChain_0"}]`,
		"tool agent": `[
			{"op_type":"AddNode","node_name":"chatOpenAI","params":{"modelName":"gpt-4o-mini","basepath":"http://127.0.0.1:18081/v1","streaming":"false"}},
			{"op_type":"BindCredential","node_id":"chatOpenAI_0","credential_id":"the-credential"},
			{"op_type":"AddNode","node_name":"customMCP","params":{"mcpServerConfig":{"url":"http://127.0.0.1:18082/mcp"},"mcpActions":["add"]}},
			{"op_type":"AddNode","node_name":"requestsGet","params":{"requestsGetUrl":"http://127.0.0.1:18083/"}},
			{"op_type":"AddNode","node_name":"bufferMemory"},
			{"op_type":"AddNode","node_name":"toolAgent"},
			{"op_type":"Connect","source_node_id":"customMCP_0","target_node_id":"toolAgent_0","target_anchor":"tools"},
			{"op_type":"Connect","source_node_id":"requestsGet_0","target_node_id":"toolAgent_0","target_anchor":"Tools"},
			{"op_type":"Connect","source_node_id":"bufferMemory_0","target_node_id":"toolAgent_0"},
			{"op_type":"Connect","source_node_id":"chatOpenAI_0","target_node_id":"toolAgent_0"}]`,
		"retrieval": `[
			{"op_type":"AddNode","node_name":"plainText","params":{"text":"The sky is green."}},
			{"op_type":"AddNode","node_name":"openAIEmbeddings","params":{"basepath":"http://127.0.0.1:18081/v1"}},
			{"op_type":"BindCredential","node_id":"openAIEmbeddings_0","credential_id":"the-credential"},
			{"op_type":"AddNode","node_name":"memoryVectorStore"},
			{"op_type":"AddNode","node_name":"chatOpenAI","params":{"modelName":"gpt-4o-mini","basepath":"http://127.0.0.1:18081/v1","streaming":false}},
			{"op_type":"BindCredential","node_id":"chatOpenAI_0","credential_id":"the-credential"},
			{"op_type":"AddNode","node_name":"conversationalRetrievalQAChain"},
			{"op_type":"Connect","source_node_id":"plainText_0","source_anchor":"document","target_node_id":"memoryVectorStore_0"},
			{"op_type":"Connect","source_node_id":"openAIEmbeddings_0","target_node_id":"memoryVectorStore_0"},
			{"op_type":"Connect","source_node_id":"memoryVectorStore_0","source_anchor":"retriever","target_node_id":"conversationalRetrievalQAChain_0","target_anchor":"vectorStoreRetriever"},
			{"op_type":"Connect","source_node_id":"chatOpenAI_0","target_node_id":"conversationalRetrievalQAChain_0"}]`,
		"iteration": `[
			{"op_type":"AddNode","node_name":"startAgentflow"},
			{"op_type":"AddNode","node_name":"iterationAgentflow","params":{"iterationInput":"[1,2]"}},
			{"op_type":"AddNode","node_name":"customFunctionAgentflow","parent":"iterationAgentflow_0","params":{"customFunctionJavascriptFunction":"return 'x'"}},
			{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"iterationAgentflow_0"}]`,
		"sequence": `[
			{"op_type":"AddNode","node_name":"chatOpenAI","params":{"modelName":"gpt-4o-mini","basepath":"http://127.0.0.1:18081/v1","streaming":false}},
			{"op_type":"BindCredential","node_id":"chatOpenAI_0","credential_id":"the-credential"},
			{"op_type":"AddNode","node_name":"seqStart"},
			{"op_type":"AddNode","node_name":"seqAgent","params":{"agentName":"The Writer"}},
			{"op_type":"AddNode","node_name":"seqLoop","params":{"loopToName":"the writer"}},
			{"op_type":"Connect","source_node_id":"chatOpenAI_0","target_node_id":"seqStart_0"},
			{"op_type":"Connect","source_node_id":"seqStart_0","target_node_id":"seqAgent_0"},
			{"op_type":"Connect","source_node_id":"seqAgent_0","target_node_id":"seqLoop_0"}]`,
		"agent with a model and a tool": `[
			{"op_type":"AddNode","node_name":"startAgentflow"},
			{"op_type":"AddNode","node_name":"agentAgentflow","params":{
				"agentModel":"chatOpenAI","agentModelConfig":{"modelName":"gpt-4o-mini","basepath":"http://127.0.0.1:18081/v1"},
				"agentTools":[{"agentSelectedTool":"customMCP","agentSelectedToolConfig":{"mcpServerConfig":"{\"url\":\"http://127.0.0.1:18082/mcp\"}","mcpActions":["add"]}}]}},
			{"op_type":"BindCredential","node_id":"agentAgentflow_0","credential_id":"the-credential"},
			{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"agentAgentflow_0"}]`,
	}
}

// ops decodes ops that must be valid.
func ops(tb testing.TB, text string) []flow.Op {
	tb.Helper()
	list, err := flow.DecodeOps([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

// compile applies ops to a base; nil is an empty flow.
func compile(tb testing.TB, base *flow.Graph, text string) flow.Result {
	tb.Helper()
	if base == nil {
		base = flow.Empty()
	}
	r, err := flow.Compile(base, ops(tb, text), definitions(tb), flow.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// build compiles one of the flows above.
func build(tb testing.TB, name string) flow.Result {
	tb.Helper()
	return compile(tb, nil, built()[name])
}
