// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A sanctions oracle with the interface of the public one: one question, one answer.
contract SandboxSanctions {
    address public immutable owner;
    mapping(address account => bool) private _listed;

    constructor() {
        owner = msg.sender;
    }

    function isSanctioned(address account) external view returns (bool) {
        return _listed[account];
    }

    function setListed(address account, bool listed) external {
        require(msg.sender == owner, "not owner");
        _listed[account] = listed;
    }
}
