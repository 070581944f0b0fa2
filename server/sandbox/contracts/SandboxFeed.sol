// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A price feed with the interface of a Chainlink aggregator. It is always fresh unless it is told when it was updated.
contract SandboxFeed {
    uint8 public constant decimals = 8;
    string public description;
    address public immutable owner;
    int256 private _answer;
    uint256 private _updatedAt;
    uint80 private _round = 1;

    constructor(string memory description_, int256 answer) {
        description = description_;
        owner = msg.sender;
        _answer = answer;
    }

    /// `updatedAt` 0 keeps the feed fresh for ever.
    function setAnswer(int256 answer, uint256 updatedAt) external {
        require(msg.sender == owner, "not owner");
        _answer = answer;
        _updatedAt = updatedAt;
        _round++;
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        uint256 at = _updatedAt == 0 ? block.timestamp : _updatedAt;
        return (_round, _answer, at, at, _round);
    }
}
