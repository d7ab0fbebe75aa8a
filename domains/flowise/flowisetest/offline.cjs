// Preloaded into Flowise where there is no internet: serves the tokenizer ranks that LangChain would fetch from
// tiktoken.pages.dev out of the js-tiktoken package on disk. Without it a chat model that streams takes about 170 s a call.
const path = require('node:path')
const real = globalThis.fetch
globalThis.fetch = async (input, init) => {
  const url = new URL(typeof input === 'string' ? input : input.url || String(input))
  if (url.hostname !== 'tiktoken.pages.dev') return real(input, init)
  const name = path.basename(url.pathname, '.json')
  const ranks = require(path.join(process.env.FLOWISE_DIR, 'node_modules/js-tiktoken/dist/ranks', name + '.cjs'))
  return new Response(JSON.stringify(ranks.default || ranks), { status: 200, headers: { 'content-type': 'application/json' } })
}
