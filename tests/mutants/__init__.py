"""Planted bugs by the thousand: which small changes of the source does no test see?"""
