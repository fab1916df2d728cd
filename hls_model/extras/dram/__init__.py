"""DRAM behind the ports: parts, address maps, one channel, and the channels of a board."""

from hls_model.dram_parts import PARTS, Part, find_part
from hls_model.extras.dram.channel import Channel, Command, Mapping
from hls_model.extras.dram.memory import PortMemory

__all__ = ["PARTS", "Channel", "Command", "Mapping", "Part", "PortMemory", "find_part"]
