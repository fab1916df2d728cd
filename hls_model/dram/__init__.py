"""DRAM behind the ports: parts, address maps, one channel, and the channels of a board."""

from hls_model.dram.channel import Channel, Command
from hls_model.dram.mapping import Mapping
from hls_model.dram.memory import PortMemory
from hls_model.dram.parts import PARTS, Part, find_part

__all__ = ["PARTS", "Channel", "Command", "Mapping", "Part", "PortMemory", "find_part"]
