"""Reads the shared graph by Graphiti's own library, and by the functions of Graphiti's MCP
server."""

import asyncio
import datetime
import logging

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.errors import NodeNotFoundError
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.nodes import EntityNode, EpisodicNode
from graphiti_core.search.search_config_recipes import NODE_HYBRID_SEARCH_RRF
from graphiti_core.search.search_filters import SearchFilters
from graphiti_core.search.search_utils import edge_fulltext_search, episode_fulltext_search, node_fulltext_search
from graphiti_core.utils.maintenance.graph_data_operations import retrieve_episodes


class NoModel(LLMClient):
    """A model that returns empty answers."""

    async def _generate_response(self, messages, response_model=None, max_tokens=0, model_size=None, **_):
        return {"summaries": []}


class SameVector(EmbedderClient):
    """Returns the same vector for each text, so that only the full-text search determines the
    results."""

    async def create(self, input_data):
        return [1.0] + [0.0] * 1023

    async def create_batch(self, input_data_list):
        return [await self.create(text) for text in input_data_list]


class SameRank(CrossEncoderClient):
    async def rank(self, query, passages):
        return [(passage, 1.0) for passage in passages]


async def read(port, group):
    """Reads each kind of node and edge, and searches each full-text index."""
    driver = FalkorDriver(host="localhost", port=port, database=group)
    episodes = await EpisodicNode.get_by_group_ids(driver, [group])
    nodes = await EntityNode.get_by_group_ids(driver, [group])
    edges = await EntityEdge.get_by_group_ids(driver, [group])
    mentions = await EpisodicEdge.get_by_group_ids(driver, [group])
    now = datetime.datetime.now(datetime.timezone.utc)
    last = await retrieve_episodes(driver, now, last_n=3, group_ids=[group])
    assert episodes and nodes and edges and mentions and len(last) == 3, "graphiti-core does not read everything"
    found = {}
    for name, search in (("episodes", episode_fulltext_search), ("nodes", node_fulltext_search), ("facts", edge_fulltext_search)):
        found[name] = len(await search(driver, "timeout", SearchFilters(), group_ids=[group], limit=10))
    assert all(found.values()), found
    return {"episodes": len(episodes), "nodes": len(nodes), "facts": len(edges), "mentions": len(mentions), "found": found}


async def use_as_mcp_server(port, group, ours):
    """Calls the functions behind the tools of Graphiti's MCP server, and compares their results
    with those of our tools.

    `ours` contains the episodes (newest first), the names of entities, and a function that returns
    whether our tools find a fact.
    """
    # After a removal, Graphiti loads the embeddings of remaining entities, and reports an error
    # because our entities have none.
    logging.getLogger("graphiti_core").setLevel(logging.CRITICAL)
    driver = FalkorDriver(host="localhost", port=port, database=group)
    graphiti = Graphiti(graph_driver=driver, llm_client=NoModel(LLMConfig()), embedder=SameVector(), cross_encoder=SameRank())
    nodes = await graphiti.search_("timeout", config=NODE_HYBRID_SEARCH_RRF, group_ids=[group], search_filter=SearchFilters())
    names = [node.name for node in nodes.nodes]
    assert names and set(names) <= ours["nodes"], set(names) - ours["nodes"]
    facts = await graphiti.search("timeout", group_ids=[group], num_results=10)
    unknown = [fact.fact for fact in facts if not ours["has_fact"](fact.name, fact.fact)]
    assert facts and not unknown, unknown
    episodes = await EpisodicNode.get_by_group_ids(driver, [group], limit=10)
    assert [episode.uuid for episode in episodes] == ours["episodes"][:10], "other episodes, or another order"
    first = episodes[0]
    await graphiti.remove_episode(first.uuid)
    try:
        await EpisodicNode.get_by_uuid(driver, first.uuid)
        raise AssertionError("graphiti-core did not remove the episode")
    except NodeNotFoundError:
        pass
    left = await EntityEdge.get_by_group_ids(driver, [group])
    assert not [edge for edge in left if edge.episodes == [first.uuid]], "facts of the removed episode are left"
    return {"search_nodes": len(names), "search_memory_facts": len(facts), "get_episodes": len(episodes), "delete_episode": 1}


def run(what, *arguments):
    return asyncio.run(what(*arguments))
