"""The official MCP client of Python against /mcp, in the newest version and with the handshake of older ones."""

import asyncio
import os

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

url = os.environ["MANIFOLD_BASE"].removesuffix("/v1") + "/mcp"
headers = {"Authorization": "Bearer " + os.environ["MANIFOLD_KEY"]}


async def main(mode):
    async with create_mcp_http_client(headers=headers) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "finance__get_stock_price" in names and "finance__set_price_alert" not in names, names
            read = await client.call_tool("finance__get_stock_price", {"symbol": "AAPL"})
            assert not read.is_error and "AAPL" in read.content[0].text, read
            wrong = await client.call_tool("finance__get_stock_price", {"symbol": 7})
            assert wrong.is_error, wrong
            write = await client.call_tool("run_start", {"goal": "set a price alert for AAPL above 500"})
            assert write.structured_content["status"] == "awaiting_approval", write
            print("ok mcp, python:", mode, client.protocol_version)


for mode in ("auto", "legacy"):
    asyncio.run(main(mode))
